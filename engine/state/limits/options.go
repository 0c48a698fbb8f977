package limits

import (
	"time"

	"orbweaver/engine/net/bandwidth"
)

// Options end the crawl, or the part of a site, a domain or an address in it.
type Options struct {
	MaxPages          int64 `help:"Stop after this number of stored pages, unchanged ones included; 0 for no limit. Page requisites (images, style sheets, scripts, frames) do not count, and those of the stored pages are still fetched." default:"0" placeholder:"N" basic:""`
	MaxPerHost        int   `help:"Stored pages of one site, page requisites included, since the server has the same work with each; 0 for no limit. Use it to collect a little of many sites." default:"0" placeholder:"N" basic:""`
	MaxPerDomain      int   `help:"Stored pages of all sites of a registrable domain (public suffix list), page requisites included; 0 for no limit." default:"0" placeholder:"N"`
	MaxHostsPerDomain int   `help:"Sites of a registrable domain; 0 for no limit. Further names are not looked up. Use it against domains with endless host names." default:"0" placeholder:"N"`
	MaxHostsPerIP     int   `name:"max-hosts-per-ip" help:"Sites of one IP address; 0 for no limit." default:"0" placeholder:"N"`
	IPv6Prefix        int   `name:"ipv6-prefix" help:"IPv6 addresses count as one IP address for delays and limits if their first N bits are equal. All agents of a crawl need the same value." default:"64" least:"32" most:"128" placeholder:"N"`

	Bandwidth bandwidth.Options `embed:""`

	MaxTime   Term          `help:"Stop after this running time, earlier runs included, such as 12h; or at a date: 2026-12-01, 2026-12-01T06:00 (local time) or 2026-12-01T06:00+01:00. A resume keeps the date. 0 for no limit." type:"term" default:"0" placeholder:"TIME|DATE" basic:""`
	MaxDisk   int64         `help:"Stop when archive, frontier and logs together have this size; 0 for no limit. The frontier of a small crawl has some 60 MiB, most of it reserved or cache." type:"size" default:"0" placeholder:"SIZE" basic:""`
	StallWait time.Duration `help:"Time to continue when every queued URL is of a site that fails or asks to slow down. Then the crawl stops with its queue, state stalled, exit status 3. A Retry-After within this time is waited for. 0: stop at once. Raise it to wait for long outages. Politeness delays do not count." default:"1h" zero:"-1" placeholder:"TIME"`
	GiveUp    time.Duration `help:"Time a site that has answered before may fail. Then its queued URLs are given up, each with a line in crawl.log. A site that never answered is given up after its tries. Lower it to end crawls with dead sites earlier." default:"7d" least:"1" placeholder:"TIME"`
}

// New returns the Limits of a crawl that has stored some pages. finish is called when one is reached.
func New(o *Options, pages int64, finish func(reason string)) *Limits {
	return &Limits{
		PagesMax: o.MaxPages, DiskMax: o.MaxDisk, TimeMax: o.MaxTime, Finish: finish, Pages: pages,
		timeChanged: make(chan struct{}, 1), space: keptFiles{}, gate: openGate{},
	}
}

// Quotas are the limits of domains and addresses.
func (o *Options) Quotas() QuotaOptions {
	return QuotaOptions{
		HostsPerDomain: o.MaxHostsPerDomain, PagesPerDomain: o.MaxPerDomain, HostsPerAddr: o.MaxHostsPerIP,
	}
}
