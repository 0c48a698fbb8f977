package parse

import (
	"errors"
	"fmt"
)

// Options of a Scanner. A crawl uses the zero value after WithDefaults.
type Options struct {
	LinksMax int // limit of links of one body, 1 to 10,000,000; default 20,000
	RefMax   int // limit of a reference in bytes, 16 to 1 MiB; longer ones are dropped and counted; default 8 KiB
	TitleMax int // limit of a title in bytes; 0 means 1 KiB
	// Speculative: report strings that look like URLs, in scripts and in data
	Speculative bool
	PDF         bool   // report the links of PDF files
	Text        bool   // report the text of pages
	Details     bool   // report Result.Elements
	Forms       bool   // report the action of forms with method GET
	Robot       string // the crawler's name in <meta name=...>, lower case; default "orbweaver"
}

// WithDefaults returns a copy with the default for each zero field.
func (o Options) WithDefaults() Options {
	if o.LinksMax == 0 {
		o.LinksMax = 20_000
	}
	if o.RefMax == 0 {
		o.RefMax = 8 << 10
	}
	if o.TitleMax == 0 {
		o.TitleMax = 1 << 10
	}
	if o.Robot == "" {
		o.Robot = "orbweaver"
	}
	return o
}

// Validate returns all faults, joined; each wraps ErrOptions.
func (o Options) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...)))
	}
	if o.LinksMax < 1 || o.LinksMax > 10_000_000 {
		fault("LinksMax %d is not between 1 and 10000000", o.LinksMax)
	}
	if o.RefMax < 16 || o.RefMax > 1<<20 {
		fault("RefMax %d is not between 16 and 1048576", o.RefMax)
	}
	if o.TitleMax < 1 || o.TitleMax > 1<<20 {
		fault("TitleMax %d is not between 1 and 1048576", o.TitleMax)
	}
	for _, c := range []byte(o.Robot) {
		if c <= ' ' || c >= 0x7F || 'A' <= c && c <= 'Z' {
			fault("Robot %q is not a lower-case ASCII name", o.Robot)
			break
		}
	}
	return errors.Join(faults...)
}
