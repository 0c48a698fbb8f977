package novelty

// Options of a Watch.
type Options struct {
	// MemoryBytes is what groups and the filter of words take at most: 0 means 32 MiB. It is taken as it is needed.
	MemoryBytes int64
	// Seed keeps others from knowing which keys and words fall together: a secret of the crawl.
	Seed uint64
	// Floor is how many delayed URLs of a part of a site are fetched at least, before any is left out: 0 means 10,000.
	Floor int
}

const (
	memoryBytesDefault = 32 << 20
	floorDefault       = 10_000
)

// WithDefaults returns a copy with the zeros replaced.
func (o Options) WithDefaults() Options {
	if o.MemoryBytes == 0 {
		o.MemoryBytes = memoryBytesDefault
	}
	if o.Floor == 0 {
		o.Floor = floorDefault
	}
	return o
}

// Stats are what a Watch holds and did.
type Stats struct {
	Groups  int   // watched at the moment
	Poor    int   // keys of these that bring nothing new
	Bytes   int64 // of memory
	Read    int64 // pages whose words were looked at
	Delayed int64 // URLs
	Evicted int64 // groups that went for want of memory
}
