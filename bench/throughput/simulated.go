package throughput

import (
	"context"
	"errors"
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
	Hostile     *Hostile // hosts beside the world's; nil for none
	Proxies     int      // addresses of the one proxy; 0 for one address, which permits some 28,000 connections
	Seeds       int      // 0 for a hundred
	DigestEvery int      // compare one payload of so many with the ground truth; 0 for every one
	BarePages   int      // pages of the bare loop before the crawl; 0 for none
}

// Hostile is a number of hostile hosts.
type Hostile struct {
	Cases []string // of bench/hostile
	Hosts int      // of each
}

// open runs the bare loop if it is wanted, and starts the web.
func (s *Simulated) open(ctx context.Context, o *Options) (openWeb, error) {
	if _, err := os.Stat(filepath.Join(o.Dir, "report.json")); err == nil {
		if err := os.RemoveAll(o.Dir); err != nil {
			return nil, fmt.Errorf("throughput: %w", err)
		}
	}
	w := &simulatedWeb{Simulated: s, o: o}
	var err error
	if s.BarePages > 0 {
		if w.loopCPU, w.loop, err = measureLoop(ctx, o, s); err != nil {
			return nil, err
		}
	}
	args := []string{"--judge", o.Dir, "--digest-every", fmt.Sprint(max(s.DigestEvery, 1))}
	if o.MaxPages > 0 || o.MaxTime > 0 {
		args = append(args, "--partial", "--in-flight", fmt.Sprint(2*o.Fetchers))
	}
	return w, w.start(ctx, args...)
}

// simulatedWeb is the web while it runs.
type simulatedWeb struct {
	*Simulated
	o     *Options
	child *load.Child

	loopCPU     float64  // of a page of the bare loop, in microseconds
	loop, whole *Profile // of the bare loop and of the crawl
	profileErr  error
}

// start starts the child process.
func (w *simulatedWeb) start(ctx context.Context, args ...string) (err error) {
	args = append(args, "--host-delay", w.o.HostDelay.String(), "--ip-delay", w.o.IPDelay.String())
	if w.Hostile != nil {
		args = append(args, "--hostile", strings.Join(w.Hostile.Cases, ","), "--hostile-hosts", fmt.Sprint(w.Hostile.Hosts))
	}
	if w.Seeds > 0 {
		args = append(args, "--seed-count", fmt.Sprint(w.Seeds))
	}
	w.child, err = load.StartChild(ctx, w.Program, w.World, w.Proxies, args...)
	return err
}

func (w *simulatedWeb) configure(cfg *engine.Config, seams *engine.Seams) error {
	where := &w.child.Where
	proxy, err := netip.ParseAddrPort(strings.TrimPrefix(where.Proxy, "http://"))
	if err != nil {
		return fmt.Errorf("throughput: the simulated web has no address: %w", err)
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

// watch profiles the crawl for the comparison with the bare loop. The crawl ends by itself.
func (w *simulatedWeb) watch(ctx context.Context, _ *engine.Engine, _ func(), _ func() *Result) {
	if w.BarePages > 0 {
		w.whole, w.profileErr = profiled(w.o.Profile, "crawl", func() error { <-ctx.Done(); return nil })
	}
}

// close stops the child process, which judges the crawl.
func (w *simulatedWeb) close(r *Result) error {
	sum, err := w.child.Stop()
	if err = errors.Join(err, w.profileErr); err != nil || r == nil {
		return err
	}
	r.Judged = &Judged{
		WebCPUPerPage: sum.CPU * 1e6 / float64(max(r.Pages, 1)), Verdict: sum.Verdict,
		BytesText: sum.Stats.Text, BytesCompressed: sum.Stats.Packed,
	}
	if v := sum.Verdict; v != nil {
		r.Coverage, r.Overlap = v.Coverage, v.Overlap
	}
	if w.BarePages > 0 {
		r.Comparison = &Comparison{
			LoopCPUPerPage: w.loopCPU, Ratio: r.CPUPerPage / max(w.loopCPU, 0.1), Locks: w.whole.lockShare(),
			Where: compare(w.loop, w.whole, w.loopCPU, r.CPUPerPage), Loops: byLoop(w.whole, r.CPUPerPage),
		}
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
