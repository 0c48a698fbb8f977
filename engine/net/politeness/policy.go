package politeness

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"orbweaver/internal/options"
	"orbweaver/internal/outcome"
)

// Policy has all settings of Decide. Defaults are in brackets. It must not change while in use.
type Policy struct {
	HostDelay     time.Duration `help:"Time between two requests to a site. Raise it for small sites, or if site owners complain. Lower it only for sites that agree." default:"4s" most:"366d" zero:"meant" placeholder:"TIME" basic:""`
	IPDelay       time.Duration `name:"ip-delay" help:"Time between two requests to an IP address, for all its sites together. Raise it for crawls of shared hosters." default:"500ms" most:"366d" zero:"meant" placeholder:"TIME" basic:""`
	CrawlDelayMax time.Duration `help:"Longest Crawl-delay that is obeyed. A longer one in a robots.txt is shortened to this, logged and counted." default:"5m" most:"366d" zero:"meant" placeholder:"TIME"`

	Tries int `help:"Tries of a URL that fails in a way that may pass, the first one included; 0 for the tries of each kind of failure, which are 3 to 5. A site that has never answered is given up after at most as many. One that has answered before keeps its queue in any case (--give-up)." default:"0" least:"0" most:"100" placeholder:"N"`

	RetryAfterMax time.Duration `kong:"-"` // upper limit of Retry-After [24h]
	// waits before the second, third, ... try; the last one is used for all later tries [1s, 5s]
	RetryDelays []time.Duration `kong:"-"`
	BackoffMin  time.Duration   `kong:"-"` // first wait after a request to slow down without Retry-After; doubles [10s]
	BackoffMax  time.Duration   `kong:"-"` // upper limit of the doubled wait [1h]
	// waits of a site that cannot be reached, by consecutive failures; the last one is used for all later ones [10s,
	// 1m, 5m, 15m, 15m, 15m, 30m, 1h]
	HostBackoff      []time.Duration     `kong:"-"`
	SlowedDelayMax   time.Duration       `kong:"-"` // upper limit of a host delay that is lengthened by a slowdown [10m]
	SlowedIPDelayMax time.Duration       `kong:"-"` // the same for an IP address [1m]
	Table            [outcome.Count]Rule `kong:"-"`
}

// The defaults of Policy.
const (
	defaultRetryAfterMax    = 24 * time.Hour
	defaultBackoffMin       = 10 * time.Second
	defaultBackoffMax       = time.Hour
	defaultSlowedDelayMax   = 10 * time.Minute
	defaultSlowedIPDelayMax = time.Minute

	// durationMax is the upper limit of every duration in a Policy, so that sums cannot overflow. The tags have it too.
	durationMax = 366 * 24 * time.Hour
)

// PageRetryAfter is the longest Retry-After that holds for the whole site if a single page of a healthy site asks for
// it. A longer one could stop the site for a day, and any other site can link to such a page. So it holds for the site
// only if the root page does not answer either.
const PageRetryAfter = 5 * time.Minute

// Default returns the policy for servers of other owners.
func Default() Policy {
	return flagDefaults().WithDefaults()
}

// flagDefaults is a policy with the defaults of the flags.
func flagDefaults() (p Policy) {
	options.SetAllDefaults(&p)
	return p
}

// WithDefaults returns a copy with the default for each field that is zero. HostDelay and IPDelay stay as they are:
// zero means no delay.
func (p Policy) WithDefaults() Policy {
	set := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	set(&p.CrawlDelayMax, flagDefaults().CrawlDelayMax)
	set(&p.RetryAfterMax, defaultRetryAfterMax)
	set(&p.BackoffMin, defaultBackoffMin)
	set(&p.BackoffMax, max(defaultBackoffMax, p.BackoffMin))
	set(&p.SlowedDelayMax, defaultSlowedDelayMax)
	set(&p.SlowedIPDelayMax, defaultSlowedIPDelayMax)
	if p.RetryDelays == nil {
		p.RetryDelays = []time.Duration{time.Second, 5 * time.Second}
	}
	if p.HostBackoff == nil {
		p.HostBackoff = []time.Duration{
			10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute, 15 * time.Minute, 15 * time.Minute,
			30 * time.Minute, time.Hour,
		}
	}
	if p.Table == ([outcome.Count]Rule{}) {
		p.Table = defaultTable()
	}
	return p
}

// Validate returns all faults of p that options.Check does not find, joined, or nil: those of fields without a flag.
func (p *Policy) Validate() error {
	var faults []error
	check := func(name string, d time.Duration) {
		if d < 0 || d > durationMax {
			faults = append(faults, fmt.Errorf("politeness: %s is %v, must be 0 to %v", name, d, durationMax))
		}
	}
	check("RetryAfterMax", p.RetryAfterMax)
	check("BackoffMin", p.BackoffMin)
	check("BackoffMax", p.BackoffMax)
	check("SlowedDelayMax", p.SlowedDelayMax)
	check("SlowedIPDelayMax", p.SlowedIPDelayMax)
	if p.BackoffMax < p.BackoffMin {
		faults = append(faults,
			fmt.Errorf("politeness: BackoffMax %v is less than BackoffMin %v", p.BackoffMax, p.BackoffMin))
	}
	for name, waits := range map[string][]time.Duration{"RetryDelays": p.RetryDelays, "HostBackoff": p.HostBackoff} {
		if len(waits) == 0 {
			faults = append(faults, fmt.Errorf("politeness: %s is empty", name))
		}
		for _, d := range waits {
			check(name, d)
		}
		if !slices.IsSorted(waits) {
			faults = append(faults, fmt.Errorf("politeness: %s %v must not decrease", name, waits))
		}
	}
	for o, rule := range p.Table {
		faults = append(faults, rule.faults(outcome.Outcome(o))...)
	}
	return errors.Join(faults...)
}
