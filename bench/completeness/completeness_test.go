package completeness

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/dnsres"
	"orbweaver/dnsres/dnstest"
	"orbweaver/engine"
	"orbweaver/engine/lifecycle"
	"orbweaver/internal/vfs"
)

func TestCompleteness_rustdoc(t *testing.T) { judge(t, "rustdoc", 9900) }
func TestCompleteness_doxygen(t *testing.T) { judge(t, "doxygen", 3100) }

// judge crawls a site with the default settings in virtual time: each page that links lead to is asked for once and
// stored, and nothing is left out. The number of pages is at least so many, so that a broken skeleton is not taken for
// a small site.
func judge(t *testing.T, name string, least int) {
	t.Parallel()
	site, err := Read("testdata/" + name + ".zst")
	if err != nil {
		t.Fatal(err)
	}
	want := site.Reachable()
	if len(want) < least {
		t.Fatalf("%d pages of %s can be reached, want %d at least", len(want), name, least)
	}
	synctest.Test(t, func(t *testing.T) {
		w := &web{site: site, asked: map[string]int{}}
		r := w.crawl(t)
		t.Logf(
			"%s: %d of %d pages, in %v of virtual time; outcomes %v, dropped %v",
			name,
			r.PagesStored+r.RevisitsStored,
			len(want),
			time.Duration(r.WallSeconds*float64(time.Second)).Round(time.Minute),
			r.Outcomes,
			r.Dropped,
		)
		if r.State != lifecycle.Finished || r.Reason != "complete" {
			t.Errorf("%s: %s", r.State, r.Reason)
		}
		var lost []string
		for path := range want {
			if w.asked[path] == 0 {
				lost = append(lost, path)
			}
		}
		slices.Sort(lost)
		if len(lost) > 0 {
			t.Errorf("%d of %d pages are lost, such as %q", len(lost), len(want), lost[:min(len(lost), 5)])
		}
		if stored := int(r.PagesStored + r.RevisitsStored); stored != len(want) {
			t.Errorf("%d pages are stored, want %d", stored, len(want))
		}
		if n := r.Outcomes["novelty"] + r.Dropped["novelty"]; n != 0 {
			t.Errorf("%d URLs were left out for novelty", n)
		}
		for _, path := range slices.Sorted(maps.Keys(w.asked)) {
			if !want[path] && path != "/robots.txt" || w.asked[path] > 1 {
				t.Errorf("%s was asked for %d times", path, w.asked[path])
			}
		}
	})
}

// web serves a site inside the process, under every name.
type web struct {
	site  *Site
	mu    sync.Mutex
	asked map[string]int
	gone  sync.WaitGroup
}

// crawl crawls the site with the default settings; call it inside a bubble. Sizes of memory have no effect on what is
// fetched.
func (w *web) crawl(t *testing.T) engine.Report {
	t.Helper()
	cfg := engine.Simulation()
	cfg.Seeds, cfg.Traps.MaxPathRepeats = seed("http://site.example/"), 4
	cfg.Intervals = engine.Intervals{Checkpoint: time.Hour, Report: time.Hour, Sync: time.Minute}
	names := new(dnstest.Server)
	names.Set("*", dnstest.Script{Addrs: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, TTL: 3600})
	res, err := dnsres.New(dnsres.Options{Upstreams: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")}}, names)
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.Open(cfg, engine.Seams{
		FS: vfs.NewMem(
			1,
		), Dialer: w, Resolver: res, Log: slog.New(slog.DiscardHandler), Allowed: func(netip.AddrPort) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	err = e.Run(t.Context())
	r := e.Report()
	if err := errors.Join(err, e.Close()); err != nil {
		t.Fatal(err)
	}
	w.gone.Wait()
	return r
}

// DialContext implements fetch.Dialer.
func (w *web) DialContext(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	w.gone.Go(func() { w.serve(theirs) })
	return ours, nil
}

func (w *web) serve(conn net.Conn) {
	defer conn.Close() //nolint:errcheck // the client may be gone
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	w.mu.Lock()
	w.asked[req.URL.Path]++
	w.mu.Unlock()
	status, kind, body := w.site.Answer(req.RequestURI)
	head := fmt.Sprintf(
		"HTTP/1.1 %d X\r\nContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n",
		status,
		kind,
		len(body),
	)
	_, _ = conn.Write(append([]byte(head), body...))
}

type seed string

// Each implements admission.SeedSource.
func (s seed) Each(f func(where string, url []byte) error) error { return f("seed", []byte(s)) }
