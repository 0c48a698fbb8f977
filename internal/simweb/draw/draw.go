package draw

import "math"

// RNG is a splitmix64 generator: small enough to be made again for every page.
type RNG uint64

// Next returns the next 64 bits.
func (r *RNG) Next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return Mix(uint64(*r))
}

// Below returns a number in [0, n). n must be above 0.
func (r *RNG) Below(n int) int { return int((r.Next() >> 32) * uint64(n) >> 32) }

// Float returns a number in [0, 1).
func (r *RNG) Float() float64 { return float64(r.Next()>>11) / (1 << 53) }

// Zipf returns a number in [0, n) with density about 1/(x+1).
func (r *RNG) Zipf(n int) int {
	return min(n-1, int(math.Exp2(r.Float()*math.Log2(float64(n)+1)))-1)
}

// Mix is a bijection that spreads its argument's bits.
func Mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Lognormal tabulates the lognormal distribution with the given spread, scaled to have the mean and cut at the
// largest; entry k is the middle of the k-th slice.
func Lognormal(mean, sigma, smallest, largest float64) []uint32 {
	const n = 4096
	raw := make([]float64, n)
	for k := range raw {
		raw[k] = math.Exp(sigma * math.Sqrt2 * math.Erfinv(2*(float64(k)+0.5)/n-1))
	}
	// The cut at both ends moves the mean: a few rounds of correction bring it back.
	scale := mean
	table := make([]uint32, n)
	for range 20 {
		sum := 0.0
		for k, x := range raw {
			y := min(max(x*scale, smallest), largest)
			table[k] = uint32(y + 0.5)
			sum += float64(table[k])
		}
		scale *= mean / (sum / n)
	}
	return table
}
