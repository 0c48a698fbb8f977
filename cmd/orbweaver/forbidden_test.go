package main

import (
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"orbweaver/engine/operate/report"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
)

// lure is a site that leads, in every way it knows, to a server that must not be reached. It listens on an address of
// its own.
type lure struct {
	addr   string // of the site
	victim string // host and port that must not be reached
	port   string // of the victim
	robots string // where its robots.txt has moved to, if anywhere
	shy    bool   // it has no links that lead away, redirects only
}

func (l *lure) links() (all []string) {
	for _, host := range []string{
		"127.0.0.1", "0x7f.1", "017700000001", "2130706433", "127.1", "127.0.0.1.", "%31%32%37.0.0.1", "１２７.0.0.1", "0",
		"0.0.0.0", "localhost",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::1]",
		"[fe80::5efe:7f00:1]",
		"evil.test", "zero.test", "all.test", "cloud.test", "private.test",
	} {
		all = append(all, "http://"+host+":"+l.port+"/page")
	}
	return append(all, "http://user:pw@127.0.0.1:"+l.port+"/page", "http:\\\\127.0.0.1:"+l.port+"\\page",
		"//127.0.0.1:"+l.port+"/page", "https://127.0.0.1:"+l.port+"/page")
}

func (l *lure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/html")
	switch r.URL.Path {
	case "/robots.txt":
		if l.robots != "" {
			http.Redirect(w, r, l.robots, http.StatusMovedPermanently)
			return
		}
		fmt.Fprintf(
			w, "User-agent: *\nAllow: /\nSitemap: http://%s/sitemap.xml\nSitemap: http://%s/sitemap.xml\n", l.victim, l.addr,
		)
	case "/sitemap.xml":
		w.Header().Set("Content-Type", "application/xml")
		fmt.Fprintf(w,
			`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://%s/from-sitemap</loc></url></urlset>`,
			l.victim)
	case "/":
		for i, link := range l.links() {
			fmt.Fprintf(w, "<a href='/to?%d'>", i)
			if !l.shy {
				fmt.Fprintf(w, "<a href='%s%d'>", link, i)
			}
		}
		fmt.Fprintf(w, "<meta http-equiv=refresh content='0;url=http://%s/refreshed'>", l.victim)
	case "/to":
		var i int
		_, _ = fmt.Sscan(r.URL.RawQuery, &i)
		w.Header()["Location"] = []string{fmt.Sprint(l.links()[i], "redirected", i)}
		w.WriteHeader(http.StatusFound)
	}
}

// nameServer answers questions for A records over UDP, by a table whose answers it gives one after the other, the last
// for ever.
type nameServer struct {
	mu    sync.Mutex
	table map[string][][]string
	asked map[string]int
}

func serveNames(t *testing.T, table map[string][][]string) (addr string, n *nameServer) {
	t.Helper()
	n = &nameServer{table: table, asked: map[string]int{}}
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 1500)
		for {
			k, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(n.reply(b[:k]), from)
		}
	}()
	t.Cleanup(func() {
		_ = conn.Close()
		<-done
	})
	return conn.LocalAddr().String(), n
}

func (n *nameServer) reply(q []byte) []byte {
	name, i := "", 12
	for q[i] != 0 {
		name += strings.ToLower(string(q[i+1:i+1+int(q[i])])) + "."
		i += 1 + int(q[i])
	}
	question := q[12 : i+5]
	addrs := n.answers(strings.TrimSuffix(name, "."), binary.BigEndian.Uint16(q[i+1:]))
	out := []byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, byte(len(addrs)), 0, 0, 0, 0}
	out = append(out, question...)
	for _, a := range addrs {
		ip := netip.MustParseAddr(a).AsSlice()
		kind := byte(1)
		if len(ip) == 16 {
			kind = 28
		}
		out = append(out, 0xc0, 12, 0, kind, 0, 1, 0, 0, 0, 0, 0, byte(len(ip))) // TTL 0
		out = append(out, ip...)
	}
	return out
}

func (n *nameServer) answers(name string, kind uint16) (addrs []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	turns := n.table[name]
	if len(turns) == 0 {
		return nil
	}
	turn := 0
	if kind == 1 {
		turn = min(n.asked[name], len(turns)-1)
		n.asked[name]++
	}
	for _, a := range turns[turn] {
		if six := strings.Contains(a, ":"); six == (kind == 28) {
			addrs = append(addrs, a)
		}
	}
	return addrs
}

func (n *nameServer) askedFor(name string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[name]
}

// listenAt serves a handler at an address of loopback, where the system has such.
func listenAt(t *testing.T, addr string, h http.Handler) string {
	t.Helper()
	l, err := net.Listen("tcp", addr)
	if err != nil {
		// Linux has all of 127.0.0.0/8; elsewhere only 127.0.0.1 is there unless more were added, and these tests
		// need two.
		t.Skip("no such address of loopback here: ", err)
	}
	s := httptest.NewUnstartedServer(h)
	_ = s.Listener.Close()
	s.Listener = l
	s.Start()
	t.Cleanup(s.Close)
	return l.Addr().String()
}

// victim counts the connections to a port of loopback, on both families.
func victim(t *testing.T) (port string, met *atomic.Int64) {
	t.Helper()
	met = new(atomic.Int64)
	first, err := net.Listen("tcp4", "0.0.0.0:0") // every address of this machine
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ = net.SplitHostPort(first.Addr().String())
	doors := []net.Listener{first}
	if second, err := net.Listen("tcp6", "[::]:"+port); err == nil {
		doors = append(doors, second)
	}
	var all sync.WaitGroup
	for _, l := range doors {
		all.Go(func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				met.Add(1)
				_ = conn.Close()
			}
		})
	}
	t.Cleanup(func() {
		for _, l := range doors {
			_ = l.Close()
		}
		all.Wait()
	})
	return port, met
}

// The whole program on real sockets, with leave for one address of loopback: pages, redirects, a robots.txt, a sitemap
// and names lead to others in every form there is, and no connection is made.
func TestHostile_N10_noPathLeadsToAForbiddenAddress(t *testing.T) {
	l := &lure{}
	r := forbidden(t, l)
	// Each link by itself and as the target of a redirect, the refresh, the sitemap and what it lists.
	if n, links := r.Outcomes["blocked-address"], int64(len(l.links())); n != 2*links+3 ||
		r.Outcomes["redirect"] != links {
		t.Errorf("%v of %d links", r.Outcomes, links)
	}
}

func TestHostile_R06_aRedirectToAPrivateAddressIsNotFollowed(t *testing.T) {
	l := &lure{shy: true}
	r := forbidden(t, l)
	if n, links := r.Outcomes["blocked-address"], int64(len(l.links())); n != links+3 || r.Outcomes["redirect"] != links {
		t.Errorf("%v of %d links", r.Outcomes, links)
	}
}

// forbidden crawls l, with leave for the address that l has and no other.
func forbidden(t *testing.T, l *lure) report.Report {
	t.Helper()
	port, met := victim(t)
	l.victim, l.port = "127.0.0.1:"+port, port
	l.addr = listenAt(t, "127.0.0.2:0", l)
	moved := &lure{victim: l.victim, port: port, robots: "http://" + l.victim + "/robots.txt"}
	moved.addr = listenAt(t, "127.0.0.2:0", moved)
	names, _ := serveNames(t, map[string][][]string{
		"evil.test": {{"127.0.0.1", "::1"}}, "zero.test": {{"0.0.0.0"}}, "all.test": {{"255.255.255.255"}},
		"cloud.test": {{"169.254.169.254", "fd00:ec2::254"}}, "private.test": {{"10.0.0.1", "::ffff:127.0.0.1"}},
	})
	dir := filepath.Join(t.TempDir(), "crawl")
	// The site whose robots.txt leads to the forbidden server keeps its queue, so the crawl stalls.
	call(
		"crawl", "--dir", dir, "--scope", "all", "--allow-net", "127.0.0.2/32", "--resolver", names, "--sitemaps",
		"--host-delay", "1ms",
		"--ip-delay", "0", "--fetchers", "4", "--workbench-memory", "4Mi", "--cache-memory", "1Mi", "--sieve-memory", "1Mi",
		"--stall-wait", "1s", "--progress", "none", "http://"+l.addr+"/", "http://"+moved.addr+"/",
	).want(t, command.ExitStalled)
	if n := met.Load(); n != 0 {
		t.Errorf("the forbidden server was met %d times", n)
	}
	r, err := report.Read(vfs.Disk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A name that leads to a good address first and to a forbidden one a moment later: within the life of the answer no
// agent asks again, and what is connected to is the address that was judged.
func TestHostile_N11_aNameIsAskedOnceAndTheAddressThatWasJudgedIsUsed(t *testing.T) {
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for i := range 20 {
			fmt.Fprintf(w, "<a href='/%d'>", i)
		}
	})
	_, at, _ := net.SplitHostPort(listenAt(t, "127.0.0.2:0", pages))
	var met atomic.Int64
	listenAt(t, "127.0.0.1:"+at, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { met.Add(1) }))
	names, n := serveNames(t, map[string][][]string{"rebind.test": {{"127.0.0.2"}, {"127.0.0.1"}}})
	dir := filepath.Join(t.TempDir(), "crawl")
	call(
		"crawl", "--dir", dir, "--allow-net", "127.0.0.2/32", "--resolver", names, "--host-delay", "1ms", "--ip-delay", "0",
		"--fetchers", "4", "--workbench-memory", "4Mi", "--cache-memory", "1Mi", "--sieve-memory", "1Mi", "--stall-wait",
		"1s", "--progress", "none", "http://rebind.test:"+at+"/",
	).want(t, command.ExitDone)
	r, err := report.Read(vfs.Disk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcomes["ok"] != 21 || n.askedFor("rebind.test") != 1 || met.Load() != 0 {
		t.Errorf("%v, asked %d times, met %d times", r.Outcomes, n.askedFor("rebind.test"), met.Load())
	}
}

// With leave for all of loopback, what the crawl itself listens on is not asked, and neither is a range that is denied
// by name.
func TestHostile_N10_theControlPortAndDeniedRangesAreNotAsked(t *testing.T) {
	var denied atomic.Int64
	away := listenAt(t, "127.0.0.3:0", http.HandlerFunc(func(http.ResponseWriter, *http.Request) { denied.Add(1) }))
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	control := free.Addr().String()
	_ = free.Close()
	_, port, _ := net.SplitHostPort(control)
	links := []string{
		control + "/status", "127.0.0.9:" + port + "/metrics", "localhost:" + port + "/status",
		"[::ffff:127.0.0.1]:" + port + "/", away + "/",
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for _, link := range links {
			fmt.Fprintf(w, "<a href='http://%s'>", link)
		}
	}))
	defer site.Close()
	dir := filepath.Join(t.TempDir(), "crawl")
	call(
		"crawl", "--dir", dir, "--scope", "all", "--allow-net", "127.0.0.0/8", "--deny-net", "127.0.0.3/32",
		"--listen", "localhost:"+port, "--host-delay", "1ms", "--ip-delay", "0",
		"--fetchers", "4", "--workbench-memory", "4Mi", "--cache-memory", "1Mi",
		"--sieve-memory", "1Mi", "--stall-wait", "1s", "--progress", "none", site.URL+"/",
	).want(t, command.ExitDone)
	r, err := report.Read(vfs.Disk(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcomes["blocked-address"] != int64(len(links)) || r.Outcomes["ok"] != 1 || denied.Load() != 0 {
		t.Errorf("%v, the denied server was met %d times", r.Outcomes, denied.Load())
	}
}
