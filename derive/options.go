package derive

import (
	"errors"
	"runtime"

	"orbweaver/warc"
)

// ErrOptions is wrapped by every error of Options.Validate.
var ErrOptions = errors.New("derive: bad options")

// Options of a Run.
type Options struct {
	// Dir is where outputs are written.
	Dir string
	// Products are made in one pass. At least one.
	Products []Product
	// Workers is how many files are read at a time. Default: the number of processors.
	Workers int
	// BlockMax is how many bytes of a block are kept for products; the rest is passed over. Default 8 MiB.
	BlockMax int64
	// Crawl is the name of the crawl in outputs. Default: the name of the crawl directory, or of the directory of the
	// file.
	Crawl string
	// NewLanguageDetector returns the detector of a worker. Default: one that knows no language.
	NewLanguageDetector func() LanguageDetector
	// ObjectOf returns the object that has an input which was removed here; "" if it is here. An input that the FS opens
	// with an error of vfs.ErrElsewhere is left out. Default: all inputs are here.
	ObjectOf func(path string) string
	// OnRemoved is called before anything is read, if inputs were removed here whose outputs are not complete. Default:
	// none.
	OnRemoved func(Removed)
	// OnFault is called with each fault of an input, by one goroutine at a time. Default: none.
	OnFault func(*warc.Fault)
	// OnProgress is called often, by one goroutine at a time. Default: none.
	OnProgress func(Progress)
}

// WithDefaults returns a copy of o whose zero fields have their defaults.
func (o Options) WithDefaults() Options {
	if o.Workers == 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.BlockMax == 0 {
		o.BlockMax = 8 << 20
	}
	if o.NewLanguageDetector == nil {
		o.NewLanguageDetector = func() LanguageDetector { return noDetector{} }
	}
	if o.ObjectOf == nil {
		o.ObjectOf = func(string) string { return "" }
	}
	if o.OnRemoved == nil {
		o.OnRemoved = func(Removed) {}
	}
	if o.OnFault == nil {
		o.OnFault = func(*warc.Fault) {}
	}
	if o.OnProgress == nil {
		o.OnProgress = func(Progress) {}
	}
	return o
}

// Validate returns all faults of the options, joined.
func (o Options) Validate() error {
	var faults []error
	say := func(bad bool, text string) {
		if bad {
			faults = append(faults, errors.Join(ErrOptions, errors.New(text)))
		}
	}
	say(o.Dir == "", "no directory for the outputs")
	say(len(o.Products) == 0, "no product")
	say(o.Workers < 1 || o.Workers > 1024, "workers: 1 to 1024")
	say(o.BlockMax < 4096, "at least 4096 bytes of a block")
	return errors.Join(faults...)
}

// Progress is how far a Run is.
type Progress struct {
	// Files that are complete, of FilesOf.
	Files, FilesOf int
	// Bytes of the input that were read, or need not be, of BytesOf.
	Bytes, BytesOf int64
	// StoreBytes of Bytes were read from an object store.
	StoreBytes int64
	// Records that were read.
	Records int64
	// Combining says what is made of the outputs of all files now; "" before.
	Combining string
}

// Report is the result of a Run.
type Report struct {
	Files      int   `json:"files"`      // inputs
	Kept       int   `json:"files_kept"` // whose outputs were complete before
	Unfinished int   `json:"files_open"` // that a crawl is writing: left out
	Records    int64 `json:"records"`    // of all inputs, also of those that were kept
	Faults     int64 `json:"faults"`     // of all inputs, also of those that were kept
	Bytes      int64 `json:"bytes"`      // of the inputs that were read
	Outputs    int   `json:"outputs"`
	Written    int64 `json:"bytes_written"`

	FromStore  int       `json:"files_from_store"` // removed here, and read from an object store
	StoreBytes int64     `json:"bytes_from_store"`
	LeftOut    []LeftOut `json:"left_out"` // removed here, and not read
}

// Removed are inputs that were removed here.
type Removed struct {
	Files int
	Bytes int64
	First string // the object of the first
}

// LeftOut is an input that was removed here and not read.
type LeftOut struct {
	File   string `json:"file"`
	Object string `json:"object"`
	Bytes  int64  `json:"bytes"`
	Reason string `json:"reason"`
}
