package sitemap

import (
	"errors"
	"fmt"
)

// Options of a Reader. After WithDefaults, the zero value has the limits of the protocol.
type Options struct {
	URLs   int   // limit of pages and sitemaps of one file, 1 to 10,000,000; default 50,000
	Bytes  int64 // limit of unpacked bytes of one file, 1 to 1 TiB; default 50 MiB
	URLMax int   // limit of a URL in bytes, 16 to 8 KiB; default 2,048
	Markup bool  // return the content of elements of a feed that may have HTML, of a body in memory
}

// The protocol's limits.
const (
	urlsMax  = 50_000
	bytesMax = 50 << 20
	urlMax   = 2048
)

// ErrOptions is wrapped by every error of Options.Validate.
var ErrOptions = errors.New("sitemap: bad options")

// WithDefaults returns a copy with the default for each zero field.
func (o Options) WithDefaults() Options {
	if o.URLs == 0 {
		o.URLs = urlsMax
	}
	if o.Bytes == 0 {
		o.Bytes = bytesMax
	}
	if o.URLMax == 0 {
		o.URLMax = urlMax
	}
	return o
}

// Validate returns all faults, joined; each wraps ErrOptions.
func (o Options) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...)))
	}
	if o.URLs < 1 || o.URLs > 10_000_000 {
		fault("URLs %d is not between 1 and 10000000", o.URLs)
	}
	if o.Bytes < 1 || o.Bytes > 1<<40 {
		fault("Bytes %d is not between 1 and 1 TiB", o.Bytes)
	}
	if o.URLMax < 16 || o.URLMax > 8<<10 {
		fault("URLMax %d is not between 16 and 8192", o.URLMax)
	}
	return errors.Join(faults...)
}
