package draw

import "fmt"

// Table draws a value by shares: 1 for the first, 2 for the second, 0 for what they leave. Entry k is the sum of the
// shares up to value k+1, of 2^32.
type Table []uint32

// NewTable makes a table of shares, which add up to at most 1. name is for errors.
func NewTable(name string, shares ...float64) (Table, error) {
	t := make(Table, len(shares))
	sum := 0.0
	for k, share := range shares {
		if share < 0 || share > 1 {
			return nil, fmt.Errorf("simweb: %s: rate %g: want 0 to 1", name, share)
		}
		sum += share
		t[k] = uint32(min(sum*(1<<32), 1<<32-1))
	}
	if sum > 1+1e-9 {
		return nil, fmt.Errorf("simweb: %s: rates add up to %g: want at most 1", name, sum)
	}
	return t, nil
}

// Draw returns the value for a hash, by its top half.
func (t Table) Draw(hash uint64) uint8 {
	u := uint32(hash >> 32)
	for k, end := range t {
		if u < end {
			return uint8(k + 1)
		}
	}
	return 0
}
