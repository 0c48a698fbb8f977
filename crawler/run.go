package crawler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"

	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/workers/parsers"
)

// Page is a page that was fetched. It and what it refers to are valid until the function returns.
type Page = parsers.SeenPage

// Report has the numbers of a crawl, as report.json.
type Report = report.Report

// Options say what Run does.
type Options struct {
	// Config has the settings. Start from Config, and set at least Dir.
	Config engine.Config
	// Seeds are the URLs where a new crawl starts.
	Seeds []string
	// Contact is an e-mail address or URL for site owners. It is part of the User-Agent, and must be given.
	Contact string
	// Page is called for each page just before it is stored, or not stored (Filters.Store), by several goroutines at a
	// time. After a kill, a page that was given may come again.
	Page func(p *Page)
	// Allow are ranges of private addresses that may be connected to, at any port.
	Allow []netip.Prefix
	// Resolvers are name servers; nil for those of the system.
	Resolvers []netip.AddrPort
	// Log takes what an operator should read; nil for slog.Default.
	Log *slog.Logger
}

// Config returns the settings of the command orbweaver crawl without flags.
func Config() engine.Config { return engine.Polite() }

// Run crawls until nothing is left or a limit of the Config is reached. When ctx ends, it finishes the exchanges under
// way and returns; the same call goes on later.
func Run(ctx context.Context, o Options) (r Report, err error) {
	if !strings.Contains(o.Contact, "@") && !strings.Contains(o.Contact, "://") {
		return r, errors.New("crawler: Options.Contact must be an e-mail address or a URL, for the owners of sites")
	}
	cfg := o.Config
	cfg.Fetch.UserAgent = cmp.Or(cfg.Fetch.UserAgent, fmt.Sprintf("orbweaver/library (+%s)", o.Contact))
	cfg.Archive.Version, cfg.Archive.Host = cmp.Or(cfg.Archive.Version, "library"), cmp.Or(cfg.Archive.Host, "localhost")
	cfg.Seeds = seeds(o.Seeds)
	guard, err := addrguard.New(o.Allow, nil, nil).Own()
	if err != nil {
		return r, fmt.Errorf("crawler: %w", err)
	}
	resolver, err := newResolver(o.Resolvers)
	if err != nil {
		return r, err
	}
	e, err := engine.Open(cfg, engine.Seams{
		FS: engine.Disk(cfg.Dir), Dialer: fetch.NetDialer(guard), Allowed: guard.Check, Resolver: resolver,
		OnPage: o.Page, Log: cmp.Or(o.Log, slog.Default()),
	})
	if err != nil {
		return r, err
	}
	err = e.Run(ctx)
	r = e.Report()
	return r, errors.Join(err, e.Close())
}

// newResolver asks name servers; those of the system if there are none.
func newResolver(servers []netip.AddrPort) (engine.Resolver, error) {
	o := dnsres.Options{Upstreams: servers, IPv6: true}
	if servers == nil {
		var err error
		if o.Upstreams, err = dnsres.SystemUpstreams(); err != nil {
			return nil, fmt.Errorf("crawler: set Options.Resolvers: %w", err)
		}
		o.HostsFile = dnsres.SystemHosts()
	}
	dialer := fetch.NetDialer(addrguard.New(nil, nil, o.Upstreams).Upstream())
	return dnsres.New(o, dnsres.NetExchanger{Dial: dialer.DialContext})
}

// seeds implements admission.SeedSource.
type seeds []string

// Each implements admission.SeedSource.
func (s seeds) Each(f func(where string, url []byte) error) error {
	for i, url := range s {
		if err := f(fmt.Sprintf("seed %d", i+1), []byte(url)); err != nil {
			return err
		}
	}
	return nil
}
