package trial

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/internal/simweb"
	"orbweaver/internal/trial/load"
)

// Simulated is the simulated web in a process of its own, on loopback. The crawl directory is replaced if it holds an
// earlier crawl.
type Simulated struct {
	Program     string // the orbweaver binary, which serves the web
	World       simweb.Config
	Args        []string // further arguments of the command sim
	Proxies     int      // addresses of the one proxy; 0 for one address, which permits some 28,000 connections
	Seeds       int      // 0 for a hundred
	DigestEvery int      // compare one payload of so many with the ground truth; 0 for every one
	SkipJudge   bool     // do not compare the archive with the web
}

// Open starts the web.
func (s *Simulated) Open(ctx context.Context, o *Options) (OpenWeb, error) {
	if _, err := os.Stat(filepath.Join(o.Dir, "report.json")); err == nil {
		if err := os.RemoveAll(o.Dir); err != nil {
			return nil, fmt.Errorf("trial: %w", err)
		}
	}
	args := append([]string{"--host-delay", o.HostDelay.String(), "--ip-delay", o.IPDelay.String()}, s.Args...)
	if !s.SkipJudge {
		args = append(args, "--judge", o.Dir, "--digest-every", fmt.Sprint(max(s.DigestEvery, 1)))
		if o.MaxPages > 0 || o.MaxTime > 0 {
			args = append(args, "--partial", "--in-flight", fmt.Sprint(2*o.Fetchers))
		}
	}
	if s.Seeds > 0 {
		args = append(args, "--seed-count", fmt.Sprint(s.Seeds))
	}
	child, err := load.StartChild(ctx, s.Program, s.World, s.Proxies, args...)
	if err != nil {
		return nil, err
	}
	return simulatedWeb{child}, nil
}

// simulatedWeb is the web while it runs.
type simulatedWeb struct{ child *load.Child }

// Configure implements OpenWeb.
func (w simulatedWeb) Configure(cfg *engine.Config, seams *engine.Seams) error {
	where := &w.child.Where
	proxy, err := netip.ParseAddrPort(strings.TrimPrefix(where.Proxy, "http://"))
	if err != nil {
		return fmt.Errorf("trial: the simulated web has no address: %w", err)
	}
	cfg.Seeds = seedFile(w.child.Seeds)
	cfg.Fetch.Proxy = &fetch.Proxy{URL: where.Proxy, Addr: proxy}
	if cfg.Fetch.RootCAs, err = w.child.Roots(); err != nil {
		return err
	}
	// As in a crawl: hostile hosts name addresses that must not be contacted.
	seams.Allowed = addrguard.New(nil, nil, []netip.AddrPort{proxy}).Through
	seams.Resolver = dnsres.Hashed{N: uint32(where.IPs)}
	seams.Dialer, err = newSpread(fetch.LoopbackOnly(), proxy, where.More)
	return err
}

// Watch implements OpenWeb. The crawl ends by itself.
func (simulatedWeb) Watch(context.Context, *engine.Engine, func(), func() *Result) {}

// Close stops the child process, which judges the crawl.
func (w simulatedWeb) Close(r *Result) error {
	sum, err := w.child.Stop()
	if err != nil || r == nil {
		return err
	}
	r.Judged = &Judged{
		WebCPUPerPage: sum.CPU * 1e6 / float64(max(r.Pages, 1)), Verdict: sum.Verdict, Quality: sum.Quality,
		BytesText: sum.Stats.Text, BytesCompressed: sum.Stats.Packed,
	}
	if v := sum.Verdict; v != nil {
		r.Coverage, r.Overlap = v.Coverage, v.Overlap
	}
	return nil
}

// seedFile is an admission.SeedSource that reads one URL a line.
type seedFile string

// Each implements admission.SeedSource.
func (s seedFile) Each(f func(where string, url []byte) error) error {
	b, err := os.ReadFile(string(s))
	if err != nil {
		return err
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		if err := f(fmt.Sprintf("%s:%d", s, n), []byte(strings.TrimSpace(line))); err != nil {
			return err
		}
	}
	return nil
}
