package dnsres

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"orbweaver/internal/options"
)

// Options configure a Resolver. A zero field has its default, except Upstreams: see SystemUpstreams.
type Options struct {
	TTLMin time.Duration `name:"dns-ttl-min" help:"Shortest time that an address is used, even if the name server gives a shorter one. Raise it to send fewer questions." default:"30s" least:"1" placeholder:"TIME"`
	TTLMax time.Duration `name:"dns-ttl-max" help:"Longest time that an address is used. Lower it if sites move often." default:"1h" least:"1" placeholder:"TIME"`

	HostsFile string           `kong:"-"` // names in this file need no question; "" for none, see SystemHosts
	Upstreams []netip.AddrPort `kong:"-"` // recursive servers, used in turn; at least one
	// longest time of "no such name", and its time if the server gives none; default 10 min
	NegativeTTL time.Duration `kong:"-"`
	// time of the first server fault of a name; doubles with each further one; default 1 min
	FaultMin time.Duration `kong:"-"`
	FaultMax time.Duration `kong:"-"` // longest time of a server fault; default 15 min
	Timeout  time.Duration `kong:"-"` // of one exchange; default 5 s
	// most exchanges for a question, without repetitions over TCP; default 3, at most 20
	Tries       int           `kong:"-"`
	CacheMax    int           `kong:"-"` // most names in the cache; default 1,000,000, at least 256
	IPv6        bool          `kong:"-"` // resolve AAAA records too
	AddrsMax    int           `kong:"-"` // most addresses of a name; default 16
	CNAMEMax    int           `kong:"-"` // most aliases in a chain; default 12
	OutageRow   int           `kong:"-"` // consecutive failures for an outage, if OutageAfter has passed too; default 10
	OutageAfter time.Duration `kong:"-"` // time without any usable reply for an outage; default 10 s
}

// WithDefaults returns a copy of o whose zero fields have their defaults.
func (o Options) WithDefaults() Options {
	o.Upstreams = slices.Clone(o.Upstreams)
	duration := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	number := func(n *int, v int) {
		if *n == 0 {
			*n = v
		}
	}
	options.SetDefaults(&o)
	duration(&o.NegativeTTL, 10*time.Minute)
	duration(&o.FaultMin, time.Minute)
	duration(&o.FaultMax, 15*time.Minute)
	duration(&o.Timeout, 5*time.Second)
	duration(&o.OutageAfter, 10*time.Second)
	number(&o.Tries, 3)
	number(&o.CacheMax, 1_000_000)
	number(&o.AddrsMax, 16)
	number(&o.CNAMEMax, 12)
	number(&o.OutageRow, 10)
	return o
}

// Validate returns all faults of o as a joined error; each wraps ErrOptions.
func (o Options) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...)))
		}
	}
	check(len(o.Upstreams) > 0, "no Upstreams")
	for _, u := range o.Upstreams {
		check(u.IsValid() && u.Port() != 0, "upstream %v has no address or no port", u)
	}
	check(o.TTLMin >= time.Second, "TTLMin %v is under 1s", o.TTLMin)
	check(o.TTLMax >= o.TTLMin, "TTLMax %v is under TTLMin %v", o.TTLMax, o.TTLMin)
	check(o.NegativeTTL >= o.TTLMin, "NegativeTTL %v is under TTLMin %v", o.NegativeTTL, o.TTLMin)
	check(o.FaultMin >= time.Second, "FaultMin %v is under 1s", o.FaultMin)
	check(o.FaultMax >= o.FaultMin, "FaultMax %v is under FaultMin %v", o.FaultMax, o.FaultMin)
	check(o.Timeout >= time.Millisecond, "Timeout %v is under 1ms", o.Timeout)
	check(o.OutageAfter > 0, "OutageAfter %v is not positive", o.OutageAfter)
	check(o.Tries >= 1 && o.Tries <= 20, "Tries %d is not between 1 and 20", o.Tries)
	check(o.CacheMax >= 256, "CacheMax %d is under 256", o.CacheMax)
	check(o.AddrsMax >= 1 && o.AddrsMax <= 1024, "AddrsMax %d is not between 1 and 1024", o.AddrsMax)
	check(o.CNAMEMax >= 1 && o.CNAMEMax <= 100, "CNAMEMax %d is not between 1 and 100", o.CNAMEMax)
	check(o.OutageRow >= 1, "OutageRow %d is not positive", o.OutageRow)
	return errors.Join(faults...)
}
