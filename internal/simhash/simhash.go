package simhash

// Of returns the fingerprint of a text from the hashes of its features: each bit is that of the majority. A feature
// that occurs twice counts twice. Without features it is 0.
func Of(features []uint64) uint64 {
	const lanes = 0x0101010101010101
	var ones [64]int // features that have the bit
	for rest := features; len(rest) > 0; {
		part := rest[:min(len(rest), 255)] // as many as a lane of eight bits counts
		rest = rest[len(part):]
		var sums [8]uint64
		for _, f := range part {
			for i := range sums {
				sums[i] += f >> i & lanes
			}
		}
		for bit := range ones {
			ones[bit] += int(sums[bit%8] >> (bit / 8 * 8) & 0xff)
		}
	}
	fingerprint := uint64(0)
	for bit, n := range ones {
		if 2*n > len(features) {
			fingerprint |= 1 << bit
		}
	}
	return fingerprint
}
