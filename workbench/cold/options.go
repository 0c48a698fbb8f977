package cold

import (
	"errors"
	"fmt"
)

// Options configure a Store. A zero field has its default.
type Options struct {
	// Dir is the directory of the store. It is required, and created if missing. No other component may use it.
	Dir string
	// Seed is the seed of the key hash. It must be secret, so that a remote site cannot choose hosts with equal hashes.
	// It must be the same for the whole life of a store.
	Seed uint64
	// SegmentBytes is the size at which a new file of the log begins. Default 64 MiB, range 1 KiB to 64 MiB.
	SegmentBytes int64
	// BufferBytes is the number of bytes in memory from which Buffered returns true. Default 256 KiB, minimum 1.
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

// Validate returns all faults of o as a joined error, or nil.
func (o Options) Validate() error {
	var faults []error
	if o.Dir == "" {
		faults = append(faults, errors.New("cold: Dir is missing"))
	}
	if o.SegmentBytes < segmentBytesMin || o.SegmentBytes > segmentBytesMax {
		faults = append(
			faults,
			fmt.Errorf("cold: SegmentBytes is %d, must be %d to %d", o.SegmentBytes, segmentBytesMin, segmentBytesMax),
		)
	}
	if o.BufferBytes < 1 {
		faults = append(faults, fmt.Errorf("cold: BufferBytes is %d, must be positive", o.BufferBytes))
	}
	return errors.Join(faults...)
}
