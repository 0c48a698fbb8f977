package dedup

// probe is the memory of one lookup.
type probe struct {
	block   [blockBytes]byte
	entry   []byte
	offsets []int64
	reads   uint64 // blocks
	errs    uint64 // of them, for nothing
}

// probePool keeps probes for later lookups, so that a lookup allocates nothing. The Map's mu guards it.
type probePool []*probe

func (pool *probePool) get() *probe {
	n := len(*pool)
	if n == 0 {
		return new(probe)
	}
	p := (*pool)[n-1]
	*pool = (*pool)[:n-1]
	return p
}

// put takes a probe back, unless a long entry has made it large.
func (pool *probePool) put(p *probe) {
	if cap(p.entry) <= 4*readFirst {
		*pool = append(*pool, p)
	}
}
