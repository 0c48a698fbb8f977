package testbed

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/page/hook"
	"orbweaver/internal/simnet"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/simweb/origin"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
)

// Rig is a simulated web in virtual time with a disk in memory. Make it inside a synctest bubble.
type Rig struct {
	World     *origin.Web
	Net       *simnet.Net
	Log       *arrivals.Log
	FS        *vfs.Mem
	Seeds     []string
	Proxy     bool
	Hook      hook.Starter    // program of --hook; nil if there is none
	EngineLog strings.Builder // the engine's log lines; read it when the engine has ended
}

// proxyAddr is the address of the simulated proxy.
func proxyAddr() netip.AddrPort { return netip.MustParseAddrPort("127.0.0.1:3128") }

// NewRig makes a web and its network.
func NewRig(c simweb.Config, proxy bool) (*Rig, error) {
	if proxy {
		c.Faults.NoHost = 0 // behind a proxy every name has a (made-up) address
	}
	w, err := origin.New(c)
	if err != nil {
		return nil, err
	}
	r := &Rig{World: w, Log: w.NewLog(), FS: vfs.NewMem(c.Seed), Seeds: w.Seeds(3), Proxy: proxy}
	r.Connect()
	return r, nil
}

// Connect makes a new network around the web, which keeps its log. It closes the one before, if there is one.
func (r *Rig) Connect() {
	if r.Net != nil {
		_ = r.Net.Close() // always nil
	}
	r.Net = r.NewNet()
}

// NewNet returns a new network that serves the rig's web.
func (r *Rig) NewNet() *simnet.Net {
	return simnet.New(r.World, simnet.Options{
		Latency: 2 * time.Millisecond, Seed: r.World.Config().Seed, Proxy: proxyAddr(),
		Serve: origin.ServeOptions{Log: r.Log},
	})
}

// Seeds is an admission.SeedSource of strings.
type Seeds []string

// Each implements admission.SeedSource.
func (s Seeds) Each(f func(where string, url []byte) error) error {
	for i, u := range s {
		if err := f(fmt.Sprintf("seed %d", i+1), []byte(u)); err != nil {
			return err
		}
	}
	return nil
}

// Config is a small crawl of the rig's world.
func (r *Rig) Config() engine.Config {
	c := engine.Simulation()
	c.Seeds = Seeds(r.Seeds)
	c.Workers.Fetchers, c.Workers.Parsers = 32, 2
	c.Admission.CacheMemory, c.Sieve.BucketBytes, c.Seen.MemoryBytes = 1<<18, 1<<18, 1<<18
	if r.Proxy {
		c.Fetch.Proxy = proxyOf(proxyAddr())
	}
	return c
}

// Seams connects an engine to the rig.
func (r *Rig) Seams(fsys vfs.FS) engine.Seams {
	s := engine.Seams{FS: fsys, Dialer: r.Net, Log: slog.New(slog.NewTextHandler(&r.EngineLog, nil))}
	s.Hook = r.Hook
	if r.Proxy {
		s.Resolver = dnsres.Hashed{N: uint32(r.World.Config().IPs)}
		return s
	}
	up := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")}
	res, err := dnsres.New(dnsres.Options{Upstreams: up}, r.Net)
	if err != nil {
		panic("BUG: testbed: " + err.Error())
	}
	s.Resolver = res
	s.Allowed = func(netip.AddrPort) error { return nil }
	return s
}

// Crawl opens a crawl on fsys, runs it until the crawl or ctx ends, and closes it.
func (r *Rig) Crawl(ctx context.Context, cfg engine.Config, fsys vfs.FS) (report.Report, error) {
	e, err := engine.Open(cfg, r.Seams(fsys))
	if err != nil {
		return report.Report{}, err
	}
	err = e.Run(ctx)
	rep := e.Report()
	if cerr := e.Close(); err == nil {
		err = cerr
	}
	return rep, err
}

// Judge compares the server log and the archive with the ground truth.
func (r *Rig) Judge(p judge.Promise, fsys vfs.FS) (judge.Verdict, error) {
	list, err := captures.All(fsys, "crawl/warc")
	if err != nil {
		return judge.Verdict{}, err
	}
	p.Expect.Seeds = r.Seeds
	return r.World.Judge(r.Log, p, list), nil
}

func proxyOf(a netip.AddrPort) *fetch.Proxy {
	return &fetch.Proxy{URL: "http://" + a.String(), Addr: a}
}

// MustRig is NewRig for a test, which fails if there is no rig.
func MustRig(t testing.TB, c simweb.Config, proxy bool) *Rig {
	t.Helper()
	r, err := NewRig(c, proxy)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// MustCrawl runs a crawl to its end, then closes the network. The test fails if either does.
func (r *Rig) MustCrawl(t testing.TB, cfg engine.Config, fsys vfs.FS) report.Report {
	t.Helper()
	result, err := r.Crawl(t.Context(), cfg, fsys)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Net.Close(); err != nil {
		t.Error(err)
	}
	return result
}

// MustJudge is Judge for a test, which fails if the archive cannot be read.
func (r *Rig) MustJudge(t testing.TB, p judge.Promise, fsys vfs.FS) judge.Verdict {
	t.Helper()
	v, err := r.Judge(p, fsys)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// FailVerdict fails a test for a verdict, which it prints.
func FailVerdict(t testing.TB, v judge.Verdict) {
	t.Helper()
	v.Print(t.Output())
	t.Error("the verdict is not what the crawl owes")
}
