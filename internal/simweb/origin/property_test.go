package origin

import (
	"bytes"
	"compress/gzip"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeebo/xxh3"
	"go.uber.org/goleak"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/content"
	"orbweaver/internal/simweb/corpus"
	"orbweaver/internal/simweb/draw"
	"orbweaver/internal/simweb/judge"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Every page of the world can be reached from one seed, and every URL is found again by its name.
func TestG2_EverythingIsReached(t *testing.T) {
	for seed := range uint64(5) {
		c := simweb.Faulty()
		c.Seed, c.Hosts, c.HTTPSShare = seed, 300, 0.2
		c.Faults.DeadLinks, c.Faults.NoHost = 0, 0
		w := testWorld(t, c)
		truth := w.Expected(judge.ExpectOptions{Seeds: w.Seeds(1)})
		pages := 0
		for u, class := range truth.All() {
			at, ok := w.Find(u)
			if !ok || truth.ClassOf(u) != class || string(w.AppendURL(nil, at)) != u {
				t.Fatalf("%s is not found again", u)
			}
			if at.Kind == simweb.KindPage {
				pages++
			}
		}
		denied := 0 // pages of a denied host need not all be linked from outside
		for i := range w.config.Hosts {
			if h := w.HostAt(i); h.Robots.DeniesAll() {
				denied += h.Pages - 1
			}
		}
		if total := int(w.PagesTotal()); pages > total || pages < total-denied {
			t.Errorf("seed %d: %d pages reached, %d there, %d behind denied roots", seed, pages, total, denied)
		}
	}
}

func TestScopeAndDepth(t *testing.T) {
	c := simweb.Plain()
	c.Hosts = 50
	w := testWorld(t, c)
	seeds := w.Seeds(2)
	if got := w.Expected(judge.ExpectOptions{Seeds: seeds, MaxDepth: -1}).Pages(); got != 2 {
		t.Errorf("seeds alone: %d pages", got)
	}
	all := w.Expected(judge.ExpectOptions{Seeds: seeds}).Pages()
	before := 2
	for depth := 1; ; depth++ {
		n := w.Expected(judge.ExpectOptions{Seeds: seeds, MaxDepth: depth}).Pages()
		if n < before || n > all {
			t.Fatalf("depth %d: %d pages after %d, %d in all", depth, n, before, all)
		}
		if before = n; n == all {
			break
		}
		if depth > 100 {
			t.Fatal("depth has no end")
		}
	}
	h := w.HostAt(0)
	inside := func(u string) bool { return strings.HasPrefix(u, w.Root(0)) }
	if got := w.Expected(judge.ExpectOptions{Seeds: seeds, Scope: inside}).Pages(); got != h.Pages {
		t.Errorf("one host: %d pages of %d", got, h.Pages)
	}
}

// A hundred million hosts cost nothing, and each is found by name.
func TestManyHosts(t *testing.T) {
	c := simweb.Plain()
	c.Hosts, c.IPs = simweb.HostsMax, 5_000_000
	w := testWorld(t, c)
	r := draw.RNG(3)
	for range 2000 {
		i := r.Below(simweb.HostsMax)
		name := w.Host(i)
		if got, ok := w.FindHost(strings.ToUpper(name)); !ok || got != i {
			t.Fatalf("%s: host %d, %v", name, got, ok)
		}
		want := netip.MustParseAddr("240.0.0.0")
		if a := w.AddrOf(name); a.Compare(want) < 0 || !netip.MustParsePrefix("240.0.0.0/8").Contains(a) {
			t.Fatalf("%s: %v", name, a)
		}
	}
	for _, s := range w.Seeds(100) {
		if _, ok := w.Find(s); !ok {
			t.Errorf("seed %s", s)
		}
	}
	for _, name := range []string{
		"", "sim.test", ".sim.test", "h1.sim.tes", "h01.sim.test", "xh1.sim.test", "h100000000.sim.test", "h-1.sim.test",
		"www.h.sim.test", "hh1.sim.test", "h1xsim.test", "h1..sim.test",
	} {
		if _, ok := w.FindHost(name); ok {
			t.Errorf("%q is a host", name)
		}
	}
}

// The address is the documented formula.
func TestAddrOf(t *testing.T) {
	c := simweb.Plain()
	c.IPs = 7
	w := testWorld(t, c)
	for i := range 50 {
		want := netip.AddrFrom4([4]byte{240, 0, 0, byte(xxh3.HashString(w.Host(i)) % 7)})
		if got := w.AddrOf(w.Host(i)); got != want {
			t.Errorf("%s: %v, want %v", w.Host(i), got, want)
		}
	}
	if w.AddrOf("gone-1.sim.test").IsValid() {
		t.Error("a host that is not there has an address")
	}
}

// Sizes have the mean that was asked for, and compress as text does.
func TestPagesAreLikeText(t *testing.T) {
	c := simweb.Plain()
	c.PagesPerHostMean, c.PagesPerHostMax, c.OtherShare = 20, 400, 0
	w := testWorld(t, c)
	var pages, raw, packed, best int
	var body []byte
	d := new(content.Document)
	for i := range 25 {
		h := w.HostAt(i)
		for p := range h.Pages {
			body, _ = w.writer.AppendPayload(body[:0], d, simweb.Target{Host: int32(i), Page: uint32(p)}, false)
			pages++
			raw += len(body)
			packed += len(corpus.Gzipped(body))
			var buf bytes.Buffer
			z, _ := gzip.NewWriterLevel(&buf, 6)
			_, _ = z.Write(body)
			_ = z.Close()
			best += buf.Len()
		}
	}
	mean, fast, slow := float64(raw)/float64(pages), float64(raw)/float64(packed), float64(raw)/float64(best)
	t.Logf("%d pages, mean %.0f bytes, gzip level 1 %.2f, level 6 %.2f", pages, mean, fast, slow)
	if mean < 0.85*16384 || mean > 1.15*16384 {
		t.Errorf("mean %.0f", mean)
	}
	if slow < 3.5 || slow > 6 {
		t.Errorf("compresses %.2f times", slow)
	}
	if total := float64(w.PagesTotal()) / float64(w.Hosts()); total < 17 || total > 23 {
		t.Errorf("%.1f pages per host", total)
	}
}

// A kept connection serves requests one after the other, also when they come together.
func TestKeepAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := testWorld(t, simweb.Plain())
		log := w.NewLog()
		client, server := net.Pipe()
		go w.Serve(server, ServeOptions{Log: log})
		go func() {
			for range 3 {
				_, _ = io.WriteString(
					client,
					"GET / HTTP/1.1\r\nHost: "+w.Host(3)+"\r\nUser-Agent: a\r\n\r\nGET /nothing HTTP/1.1\r\nHost: "+
						w.Host(4)+"\r\n\r\n",
				)
			}
			_, _ = io.WriteString(client, "GET /robots.txt HTTP/1.0\r\nHost: x\r\n\r\n")
		}()
		all, err := io.ReadAll(client)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(all, []byte("HTTP/1.1 200 OK\r\n")); n != 3 {
			t.Errorf("%d pages", n)
		}
		if n := bytes.Count(all, []byte("HTTP/1.1 404 Not Found\r\n")); n != 4 {
			t.Errorf("%d errors", n)
		}
		synctest.Wait()
		var conns []uint64
		for a := range log.All() {
			conns = append(conns, a.Conn)
			if a.End.Before(a.Time) {
				t.Errorf("%v ends before it begins", a)
			}
		}
		if len(conns) != 7 || conns[0] != 1 || conns[6] != 1 {
			t.Errorf("connections %v", conns)
		}
	})
}

// A stalled answer ends when the client has had enough, at that moment.
func TestStallEndsWithClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := simweb.Faulty()
		c.Faults = simweb.Faults{Failures: simweb.Failures{Stall: 1}}
		w := testWorld(t, c)
		var stalled simweb.Target
		for i := 0; stalled.Page == 0; i++ {
			if h := w.HostAt(i); h.Pages > 1 && h.IsLeaf(h.Pages-1) {
				stalled = simweb.Target{Host: int32(i), Page: uint32(h.Pages - 1)}
			}
		}
		log := w.NewLog()
		client, server := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.Serve(server, ServeOptions{Log: log})
		}()
		begin := time.Now()
		_, _ = io.WriteString(client, "GET "+string(w.AppendURL(nil, stalled))+" HTTP/1.1\r\n\r\n")
		time.Sleep(30 * time.Second)
		client.Close()
		<-done
		for a := range log.All() {
			if !a.Cut || a.Whole || a.End.Sub(begin) != 30*time.Second || a.Status != 0 {
				t.Errorf("%+v", a)
			}
		}
		if log.Len() != 1 {
			t.Errorf("%d arrivals", log.Len())
		}
	})
}

func FuzzServe(f *testing.F) {
	f.Add("GET http://www.h0.sim.test/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
	f.Add("POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\nabc")
	f.Add("CONNECT h1.sim.test:443 HTTP/1.1\r\n\r\n")
	f.Add("GET /trap/1/2 HTTP/1.1\r\nHost: h1.sim.test:80\r\n\r\nGET /~hop/1/2 HTTP/1.1\r\n\r\n")
	f.Add("\x16\x03\x01 nonsense\r\n\r\n")
	w, err := New(simweb.Plain())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in string) {
		log := w.NewLog()
		client, server := net.Pipe()
		done := make(chan struct{})
		go func() {
			defer close(done)
			w.Serve(server, ServeOptions{Log: log, Plain: true})
		}()
		go func() {
			_, _ = io.WriteString(client, in)
			client.Close()
		}()
		_, _ = io.Copy(io.Discard, client)
		<-done
		for a := range log.All() {
			_ = a
		}
		w.Judge(log, judge.Promise{Partial: true}, nil)
	})
}

func FuzzFind(f *testing.F) {
	c := simweb.Faulty()
	c.Hosts = 50
	w, err := New(c)
	if err != nil {
		f.Fatal(err)
	}
	for u := range w.Expected(judge.ExpectOptions{Seeds: w.Seeds(1)}).All() {
		f.Add(u)
		if strings.HasSuffix(u, "9.html") {
			break
		}
	}
	f.Add("http://h1.sim.test:99999999999999/")
	f.Add("http://h1.sim.test/~hop/300/1")
	f.Fuzz(func(t *testing.T, u string) {
		if at, ok := w.Find(u); ok {
			if got := string(w.AppendURL(nil, at)); got != u {
				t.Errorf("%q is found and written %q", u, got)
			}
		}
	})
}

// Equal configurations make equal worlds, and another seed another one.
func TestWorldsAreTheSame(t *testing.T) {
	c := simweb.Faulty()
	c.Hosts = 20
	a, b := testWorld(t, c), testWorld(t, c)
	c.Seed++
	other := testWorld(t, c)
	same := 0
	for u, class := range a.Expected(judge.ExpectOptions{Seeds: a.Seeds(5)}).All() {
		if class != judge.ClassPage {
			continue
		}
		p, ok := a.Payload(u, false)
		q, ok2 := b.Payload(u, false)
		if !ok || !ok2 || !bytes.Equal(p, q) {
			t.Fatalf("%s differs", u)
		}
		if r, ok := other.Payload(u, false); ok && bytes.Equal(p, r) {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d pages are the same with another seed", same)
	}
}

// All mistakes of a configuration are told at once.
func TestValidateTellsAll(t *testing.T) {
	c := simweb.Plain()
	c.Hosts, c.Domain, c.HTTPSShare, c.Faults, c.Robots = -1, "Sim.Test", 2, simweb.Faults{
		Failures: simweb.Failures{StatusGone: 0.7, Error: 0.7},
	}, simweb.Robots{
		Slow: -1,
	}
	_, err := New(c)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"hosts -1", "Sim.Test", "share 2", "add up", "rate -1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
