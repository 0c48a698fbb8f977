package gaps

import (
	"errors"
	"fmt"
	"time"

	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/robots"
	"orbweaver/internal/vfs"
)

// Options say how to judge. The zero value reads all from the archive.
type Options struct {
	// Stated are the delays of files whose warcinfo record states none. Default: no host delay and no IP delay is known;
	// the limits of what a server may ask for are those of this crawler.
	Stated Delays
	// Agent is the product token in robots.txt. Default: that of this crawler.
	Agent string
	// Tolerance is what a gap may lack, since dates and durations are rounded. Default 1 ms.
	Tolerance time.Duration
	// ClockSkew is how much the clocks of two directories may differ. Default 1 s.
	ClockSkew time.Duration
	// RecordedOnly judges the gaps between exchanges that have a record, as if there were no others.
	RecordedOnly bool
	// Top is the number of gaps that are named in the report. Default 10.
	Top int
	// Progress gets what is done now and how much of it, from the goroutine that called Audit. Default: not called.
	Progress func(Progress)
	// Judged gets each gap, those of sites before those of addresses, from the goroutine that called Audit. Default: not
	// called.
	Judged func(Judgement)
	// Temp and TempDir are where lists go that do not fit in memory. Default: in memory.
	Temp    vfs.FS
	TempDir string
	// MemoryBytes is for each of two lists. Default 32 MiB, at least 64 KiB.
	MemoryBytes int
}

// Progress says how far an audit is.
type Progress struct {
	File        string
	Bytes       int64 // read
	TotalBytes  int64 // of all files
	IsJudging   bool  // all files are read
	Exchanges   int64
	ExchangesOf int64 // while judging
}

// Judgement is what was found of one gap. A request without a record has no place.
type Judgement struct {
	ByAddress      bool
	Verdict        Verdict // NotProved: see Reason
	Reason         Reason
	Gap            time.Duration // the shortest that fits the records, the longest if it is violated
	Required       time.Duration
	Earlier, Later Place
}

// Place is where a record is in the files. The zero Place is none.
type Place struct {
	File   string
	Offset int64
}

// Delays are the delays that a crawl states. A delay below zero is not stated.
type Delays struct {
	Host, IP                     time.Duration
	CrawlDelayMax, RetryAfterMax time.Duration
	IPv6Prefix                   int
}

// Unstated are no delays at all.
func Unstated() Delays {
	return Delays{Host: -1, IP: -1, CrawlDelayMax: -1, RetryAfterMax: -1, IPv6Prefix: -1}
}

// orElse returns d with what it does not state taken from other.
func (d Delays) orElse(other Delays) Delays {
	for _, f := range []struct {
		to   *time.Duration
		from time.Duration
	}{
		{&d.Host, other.Host},
		{&d.IP, other.IP},
		{&d.CrawlDelayMax, other.CrawlDelayMax},
		{&d.RetryAfterMax, other.RetryAfterMax},
	} {
		if *f.to < 0 {
			*f.to = f.from
		}
	}
	if d.IPv6Prefix <= 0 {
		d.IPv6Prefix = other.IPv6Prefix
	}
	return d
}

// usual are the limits of Orbweaver, for archives that state none.
func usual() Delays {
	p := politeness.Default()
	return Delays{
		Host: -1, IP: -1, CrawlDelayMax: p.CrawlDelayMax, RetryAfterMax: p.RetryAfterMax,
		IPv6Prefix: politeness.DefaultIPv6Prefix,
	}
}

// WithDefaults returns a copy in which what was zero is filled in.
func (o Options) WithDefaults() Options {
	if o.Stated == (Delays{}) {
		o.Stated = Unstated()
	}
	o.Stated = o.Stated.orElse(usual())
	if o.Agent == "" {
		o.Agent = robots.Token
	}
	if o.Tolerance == 0 {
		o.Tolerance = time.Millisecond
	}
	if o.ClockSkew == 0 {
		o.ClockSkew = time.Second
	}
	if o.Top == 0 {
		o.Top = 10
	}
	if o.MemoryBytes == 0 {
		o.MemoryBytes = 32 << 20
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	if o.Judged == nil {
		o.Judged = func(Judgement) {}
	}
	if o.Temp == nil {
		o.Temp, o.TempDir = vfs.NewMem(1), "lists"
	}
	return o
}

// Validate returns all faults of the options, joined.
func (o *Options) Validate() error {
	var faults []error
	if o.Tolerance < 0 || o.ClockSkew < 0 || o.Top < 0 {
		faults = append(faults, errors.New("gaps: tolerance, clock skew and top must not be negative"))
	}
	if n := o.Stated.IPv6Prefix; n < politeness.MinIPv6Prefix || n > politeness.MaxIPv6Prefix {
		faults = append(faults, fmt.Errorf(
			"gaps: IPv6 prefix of %d bits, must be %d to %d", n, politeness.MinIPv6Prefix, politeness.MaxIPv6Prefix,
		))
	}
	return errors.Join(faults...)
}
