package politeness

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"orbweaver/engine/outcome"
)

// Policy is all that Decide needs to know. It is read only once in use.
type Policy struct {
	HostDelay time.Duration // from the end of an attempt to the next of the same site; 0 or more [4s]
	IPDelay   time.Duration // the same for an IP address; 0 or more [500ms]

	CrawlDelayMax time.Duration // the longest Crawl-delay that is kept [5m]
	RetryAfterMax time.Duration // the longest Retry-After that is kept [24h]

	RetryDelays []time.Duration // waits before the second try, the third, ...; the last one holds for all after it [1s, 5s]
	BackoffMin  time.Duration   // first wait of a site that asks to slow down and does not say how long; doubles [10s]
	BackoffMax  time.Duration   // up to this [1h]
	HostBackoff []time.Duration // waits of a site that cannot be reached, by failures in a row; the last one holds [10s, 1m, 5m, 15m three times, 30m, 1h]

	StretchMax   time.Duration // up to this the delay of a site with a strain is stretched [10m]
	IPStretchMax time.Duration // the same for an IP [1m]

	Table [outcome.Count]Rule
}

// The defaults of Policy.
const (
	defaultHostDelay     = 4 * time.Second
	defaultIPDelay       = 500 * time.Millisecond
	defaultCrawlDelayMax = 5 * time.Minute
	defaultRetryAfterMax = 24 * time.Hour
	defaultBackoffMin    = 10 * time.Second
	defaultBackoffMax    = time.Hour
	defaultStretchMax    = 10 * time.Minute
	defaultIPStretchMax  = time.Minute

	durationMax = 366 * 24 * time.Hour // of anything in a Policy: keeps the arithmetic far from overflow
)

// Default is the policy for strangers' servers.
func Default() Policy {
	return Policy{HostDelay: defaultHostDelay, IPDelay: defaultIPDelay}.WithDefaults()
}

// WithDefaults returns a copy in which what is zero has its default, but for HostDelay and IPDelay: there zero means no
// delay.
func (p Policy) WithDefaults() Policy {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&p.CrawlDelayMax, defaultCrawlDelayMax)
	set(&p.RetryAfterMax, defaultRetryAfterMax)
	set(&p.BackoffMin, defaultBackoffMin)
	set(&p.BackoffMax, max(defaultBackoffMax, p.BackoffMin))
	set(&p.StretchMax, defaultStretchMax)
	set(&p.IPStretchMax, defaultIPStretchMax)
	if p.RetryDelays == nil {
		p.RetryDelays = []time.Duration{time.Second, 5 * time.Second}
	}
	if p.HostBackoff == nil {
		p.HostBackoff = []time.Duration{
			10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, 15 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour,
		}
	}
	if p.Table == ([outcome.Count]Rule{}) {
		p.Table = defaultTable()
	}
	return p
}

// Validate says everything that is wrong with p, joined.
func (p *Policy) Validate() error {
	var faults []error
	check := func(name string, d time.Duration) {
		if d < 0 || d > durationMax {
			faults = append(faults, fmt.Errorf("politeness: %s is %v, must be 0 to %v", name, d, durationMax))
		}
	}
	check("HostDelay", p.HostDelay)
	check("IPDelay", p.IPDelay)
	check("CrawlDelayMax", p.CrawlDelayMax)
	check("RetryAfterMax", p.RetryAfterMax)
	check("BackoffMin", p.BackoffMin)
	check("BackoffMax", p.BackoffMax)
	check("StretchMax", p.StretchMax)
	check("IPStretchMax", p.IPStretchMax)
	if p.BackoffMax < p.BackoffMin {
		faults = append(faults, fmt.Errorf("politeness: BackoffMax %v is less than BackoffMin %v", p.BackoffMax, p.BackoffMin))
	}
	for name, waits := range map[string][]time.Duration{"RetryDelays": p.RetryDelays, "HostBackoff": p.HostBackoff} {
		if len(waits) == 0 {
			faults = append(faults, fmt.Errorf("politeness: %s is empty", name))
		}
		for _, d := range waits {
			check(name, d)
		}
		if !slices.IsSorted(waits) {
			faults = append(faults, fmt.Errorf("politeness: %s %v get shorter", name, waits))
		}
	}
	for o, rule := range p.Table {
		faults = append(faults, rule.faults(outcome.Outcome(o))...)
	}
	return errors.Join(faults...)
}
