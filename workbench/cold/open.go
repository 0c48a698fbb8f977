package cold

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// Open opens the store in o.Dir. If cut is nil, the store is new and empty, and old files are removed. Otherwise Open
// restores exactly this checkpoint and removes everything after it. The checkpoint must be the last one that was
// released, or a later one. Open reads the whole log. An error that wraps vfs.ErrCorrupt means that the files do not
// match the checkpoint.
func Open(fsys vfs.FS, o Options, cut *Checkpoint) (*Store, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	head, tail := Position{1, segmentHead}, Position{1, 0}
	if err := fsys.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("cold: open: %w", err)
	}
	if cut != nil {
		if err := cut.validate(); err != nil {
			return nil, err
		}
		head, tail = cut.Head, cut.Tail
	}
	s := newStore(fsys, o, head, tail)
	err := s.segments.removeOutside(head, tail)
	if err == nil && cut != nil {
		err = s.restore(cut)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

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
		faults = append(faults,
			fmt.Errorf("cold: SegmentBytes is %d, must be %d to %d", o.SegmentBytes, segmentBytesMin, segmentBytesMax))
	}
	if o.BufferBytes < 1 {
		faults = append(faults, fmt.Errorf("cold: BufferBytes is %d, must be positive", o.BufferBytes))
	}
	return errors.Join(faults...)
}
