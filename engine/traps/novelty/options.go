package novelty

// Options of a Detector.
type Options struct {
	// MemoryBytes limits the memory of groups and word filters; 0 means 32 MiB. Memory is allocated as needed.
	MemoryBytes int64
	// Seed is a secret of the crawl, so that a site cannot construct keys and words with equal hashes.
	Seed uint64
	// Floor is the number of delayed URLs of a part that are fetched before any is skipped; 0 means 10,000.
	Floor int
}

const (
	memoryBytesDefault = 32 << 20
	floorDefault       = 10_000
)

// WithDefaults returns a copy with the default for each zero field.
func (o Options) WithDefaults() Options {
	if o.MemoryBytes == 0 {
		o.MemoryBytes = memoryBytesDefault
	}
	if o.Floor == 0 {
		o.Floor = floorDefault
	}
	return o
}

// Stats describes what a Detector contains and did.
type Stats struct {
	Groups  int   // groups with counts now
	Poor    int   // keys of these that are poor
	Bytes   int64 // memory in bytes
	Read    int64 // pages whose text was read
	Delayed int64 // URLs that were delayed
	Evicted int64 // groups that were removed because memory was short
}
