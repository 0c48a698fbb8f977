package crawler_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"orbweaver/crawler"
)

// site serves three pages on this machine: / links to /a and /b.
func site() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, `<title>Home</title><a href=/a>good news</a> <a href=/b>old news</a>`)
		case "/a", "/b":
			fmt.Fprintf(w, "<title>Page %s</title>", r.URL.Path[1:])
		default:
			http.NotFound(w, r)
		}
	}))
}

// options are those of all examples: a crawl of a site on this machine, into a new directory.
func options(server *httptest.Server) (o crawler.Options, remove func()) {
	dir, err := os.MkdirTemp("", "crawl")
	if err != nil {
		panic(err)
	}
	o = crawler.Options{
		Config: crawler.Config(), Seeds: []string{server.URL + "/"}, Contact: "you@example.org",
		Allow:     []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Resolvers: []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")}, // there are no names here
		Log:       slog.New(slog.DiscardHandler),
	}
	o.Config.Dir = dir
	o.Config.Politeness.HostDelay, o.Config.Politeness.IPDelay = 10*time.Millisecond, 10*time.Millisecond
	return o, func() { _ = os.RemoveAll(dir) }
}

// run runs a crawl, and prints the paths of its pages in order.
func run(o crawler.Options) crawler.Report {
	var mu sync.Mutex
	var lines []string
	o.Page = func(p *crawler.Page) {
		mu.Lock()
		defer mu.Unlock()
		path := p.URL[strings.LastIndexByte(p.URL, '/'):]
		lines = append(lines, fmt.Sprintf("%s %d %s, %d links", path, p.Status, p.Head.Value("Content-Type"), len(p.Links)))
	}
	r, err := crawler.Run(context.Background(), o)
	if err != nil {
		fmt.Println(err)
	}
	slices.Sort(lines)
	fmt.Println(strings.Join(lines, "\n"))
	return r
}

// A crawl gives each page to a function.
func ExampleRun() {
	server := site()
	defer server.Close()
	o, remove := options(server)
	defer remove()
	r := run(o)
	fmt.Println(r.State, r.Reason)
	// Output:
	// / 200 text/html; charset=utf-8, 2 links
	// /a 200 text/html; charset=utf-8, 0 links
	// /b 200 text/html; charset=utf-8, 0 links
	// finished complete
}

// A filter decides which links are followed.
func ExampleRun_linkFilter() {
	server := site()
	defer server.Close()
	o, remove := options(server)
	defer remove()
	o.Config.Filters.Follow = `not (url endsWith "/b")`
	run(o)
	// Output:
	// / 200 text/html; charset=utf-8, 1 links
	// /a 200 text/html; charset=utf-8, 0 links
}

// An expression adds up numbers over all pages.
func ExampleRun_stat() {
	server := site()
	defer server.Close()
	o, remove := options(server)
	defer remove()
	o.Config.Filters.Stats = []string{"html=status == 200 ? 1 : 0"}
	r := run(o)
	fmt.Println("html:", r.Stats["html"])
	// Output:
	// / 200 text/html; charset=utf-8, 2 links
	// /a 200 text/html; charset=utf-8, 0 links
	// /b 200 text/html; charset=utf-8, 0 links
	// html: 3
}

// A score decides which link is fetched first.
func ExampleRun_score() {
	server := site()
	defer server.Close()
	o, remove := options(server)
	defer remove()
	if err := o.Config.Order.Visit.UnmarshalText([]byte("focused")); err != nil {
		panic(err)
	}
	o.Config.Filters.Score = `anchor contains "old" ? 2 : 1`
	o.Config.Limits.MaxPages = 2
	run(o)
	// Output:
	// / 200 text/html; charset=utf-8, 2 links
	// /b 200 text/html; charset=utf-8, 0 links
}

// A crawl that was stopped goes on with the same call.
func ExampleRun_resume() {
	server := site()
	defer server.Close()
	o, remove := options(server)
	defer remove()
	ctx, stop := context.WithCancel(context.Background())
	o.Page = func(*crawler.Page) { stop() }
	r, err := crawler.Run(ctx, o)
	fmt.Println(r.State, err)
	r = run(o)
	fmt.Println(r.State)
	// Output:
	// stopped <nil>
	// /a 200 text/html; charset=utf-8, 0 links
	// /b 200 text/html; charset=utf-8, 0 links
	// finished
}

// A filter decides which pages are stored. All are given to the function.
func ExampleRun_storeFilter() {
	server := site()
	defer server.Close()
	o, remove := options(server)
	defer remove()
	o.Config.Filters.Store = `url endsWith "/a"`
	r := run(o)
	fmt.Println(r.PagesStored, "stored,", r.PagesNotStored, "not")
	// Output:
	// / 200 text/html; charset=utf-8, 2 links
	// /a 200 text/html; charset=utf-8, 0 links
	// /b 200 text/html; charset=utf-8, 0 links
	// 1 stored, 2 not
}
