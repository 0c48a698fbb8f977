package warc

import (
	"errors"
	"fmt"

	"orbweaver/warc/fixity"
	"orbweaver/warc/header"
)

// Options configure a Writer.
type Options struct {
	// Dir is the directory of the archive. It is created if missing. No other process may write files with such names
	// there.
	Dir string
	// Prefix is the first part of file names: letters, digits, ".", "_", "-". Default "orbweaver".
	Prefix string
	// Host is the last part: letters, digits, ".", "_", "-", "~". Default "localhost".
	Host string
	// SizeMax is the length in bytes at which a file is full. A longer group gets a file of its own. At least 1024.
	// Default 1 GiB.
	SizeMax int64
	// Compression and Level must be those of the Encoders. Default Gzip and 1.
	Compression Compression
	Level       int
	// Dictionary must be that of the Encoders; each file starts with it. Default: none.
	Dictionary []byte
	// FinishLater leaves full files to Finish, which the caller runs where it may wait for the disk. Otherwise the
	// Append that filled a file finishes it. The same holds for reading the last file again after a resume: with
	// FinishLater, OpenWriter trusts that a group ends at the Checkpoint.
	FinishLater bool
	// Listeners are told of each file that is closed, in this order. With any, Sync also computes the SHA-256 of what
	// was written: about 4 us for a page of 16 KiB.
	Listeners []fixity.Listener
	// Info is the block of each warcinfo record: software, operator, robots, ... in this order.
	Info []Field
}

// WithDefaults returns a copy of o whose zero fields have their defaults.
func (o Options) WithDefaults() Options {
	if o.Prefix == "" {
		o.Prefix = "orbweaver"
	}
	if o.Host == "" {
		o.Host = "localhost"
	}
	if o.SizeMax == 0 {
		o.SizeMax = 1 << 30
	}
	if o.Level == 0 {
		o.Level = 1
	}
	return o
}

// Validate returns all faults of o as a joined error, or nil.
func (o Options) Validate() error {
	faults := []error{EncoderOptions{Compression: o.Compression, Level: o.Level, Dictionary: o.Dictionary}.Validate()}
	if !isPart(o.Prefix, "._-") {
		faults = append(faults,
			fmt.Errorf("warc: prefix %q: want letters, digits, dot, underscore, hyphen, and a letter or digit first", o.Prefix))
	} else if _, ok := ParseName(o.Prefix + "-x.warc"); ok {
		faults = append(faults, fmt.Errorf("warc: prefix %q looks like a whole file name", o.Prefix))
	}
	if !isPart(o.Host, "._-~") {
		faults = append(faults,
			fmt.Errorf("warc: host %q: want letters, digits, dot, underscore, hyphen, tilde, and a letter or digit first",
				o.Host))
	}
	if o.SizeMax < 1024 {
		faults = append(faults, fmt.Errorf("warc: file size limit %d is below 1024", o.SizeMax))
	}
	for _, f := range o.Info {
		if !header.IsToken(f.Name) {
			faults = append(faults, fmt.Errorf("warc: info field name %q is no token", f.Name))
		}
	}
	return errors.Join(faults...)
}
