package cold

import (
	"errors"
	"fmt"
)

// Options are what a Store needs to know. What is zero has its default.
type Options struct {
	// Dir is the store's own directory. It must be given; it is made if missing.
	Dir string
	// Seed is of the hash of keys. It is the crawl's secret, so that nobody can think of hosts that all have the same, and
	// always the same for one store.
	Seed uint64
	// SegmentBytes is when a file of the log is long enough, 1 KiB to 64 MiB. Default 64 MiB.
	SegmentBytes int64
	// BufferBytes is how much waits in memory before it is time for a Flush. Default 256 KiB.
	BufferBytes int
}

const (
	segmentBytesMin = 1 << 10
	segmentBytesMax = 64 << 20
	bufferBytes     = 256 << 10
)

// WithDefaults returns a copy of o whose zero fields have their defaults.
func (o Options) WithDefaults() Options {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = segmentBytesMax
	}
	if o.BufferBytes == 0 {
		o.BufferBytes = bufferBytes
	}
	return o
}

// Validate says everything that is wrong with o, joined.
func (o Options) Validate() error {
	var faults []error
	if o.Dir == "" {
		faults = append(faults, errors.New("cold: Dir is missing"))
	}
	if o.SegmentBytes < segmentBytesMin || o.SegmentBytes > segmentBytesMax {
		faults = append(faults, fmt.Errorf("cold: SegmentBytes is %d, must be %d to %d", o.SegmentBytes, segmentBytesMin, segmentBytesMax))
	}
	if o.BufferBytes < 1 {
		faults = append(faults, fmt.Errorf("cold: BufferBytes is %d, must be positive", o.BufferBytes))
	}
	return errors.Join(faults...)
}
