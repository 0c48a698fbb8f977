package simweb

import "math"

// rng is a splitmix64 generator: small enough to be made anew for every page.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	return mix(uint64(*r))
}

// below returns a number in [0, n). n must be above 0.
func (r *rng) below(n int) int { return int((r.next() >> 32) * uint64(n) >> 32) }

// float returns a number in [0, 1).
func (r *rng) float() float64 { return float64(r.next()>>11) / (1 << 53) }

// zipf returns a number in [0, n) with density about 1/(x+1).
func (r *rng) zipf(n int) int {
	return min(n-1, int(math.Exp2(r.float()*math.Log2(float64(n)+1)))-1)
}

// mix is a bijection that spreads its argument's bits.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// The salts keep apart what is drawn for one host or page.
const (
	saltHost = iota + 1
	saltPage
	saltLinks
	saltBody
	saltCopy
	saltRobots
	saltAnswer
	saltSeeds
	saltThink
	saltValidators
	saltEdition
)

// hash draws for a host and page.
func (w *World) hash(salt, host, page int) uint64 {
	return mix(w.seed + uint64(salt)*0xd6e8feb86659fd93 ^ mix(uint64(host)*0xa0761d6478bd642f+uint64(page)*0xe7037ed1a0b428db))
}

// quantiles tabulates the lognormal distribution with the given spread, scaled to have the mean and cut at the
// largest; entry k is the middle of the k-th slice.
func lognormalTable(mean, sigma, smallest, largest float64) []uint32 {
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
