package origin

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"regexp"
	"sort"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/net/html"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
)

// get asks for a URL over a pipe, as through a proxy.
func get(t *testing.T, w *Web, o ServeOptions, url string) (*http.Response, []byte, error) {
	t.Helper()
	return getWith(t, w, o, url, "Accept: */*")
}

// getWith is get with one more line in the head.
func getWith(t *testing.T, w *Web, o ServeOptions, url, line string) (*http.Response, []byte, error) {
	t.Helper()
	client, server := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		w.Serve(server, o)
	}()
	defer func() {
		client.Close()
		<-done
	}()
	const fields = "Host: x\r\nUser-Agent: test\r\nConnection: close\r\n"
	if _, err := io.WriteString(client, "GET "+url+" HTTP/1.1\r\n"+fields+line+"\r\n\r\n"); err != nil {
		return nil, nil, err
	}
	reader := bufio.NewReader(client)
	resp, err := http.ReadResponse(reader, nil)
	for err == nil && resp.StatusCode < 200 {
		resp, err = http.ReadResponse(reader, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	body, err := io.ReadAll(resp.Body)
	return resp, body, err
}

// readLinks finds links with other people's tokenizer and URL parser.
func readLinks(t *testing.T, base string, body []byte) []string {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]bool)
	based := base
	var refs []string
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if n.Type == html.ElementNode {
			attr := func(name string) (string, bool) {
				for _, a := range n.Attr {
					if a.Key == name {
						return a.Val, true
					}
				}
				return "", false
			}
			switch n.Data {
			case "base":
				if v, ok := attr("href"); ok && based == base {
					based = resolve(t, base, v)
				}
			case "template":
				return
			case "a", "area", "link":
				if v, ok := attr("href"); ok {
					refs = append(refs, v)
				}
			case "img", "iframe", "embed", "script":
				if v, ok := attr("src"); ok {
					refs = append(refs, v)
				}
				if v, ok := attr("srcset"); ok {
					for _, part := range strings.Split(v, ",") {
						refs = append(refs, strings.Fields(part)[0])
					}
				}
			case "meta":
				if v, ok := attr("http-equiv"); ok && v == "refresh" {
					c, _ := attr("content")
					_, u, _ := strings.Cut(c, "URL=")
					refs = append(refs, u)
				}
			case "noscript":
				for c := n.FirstChild; c != nil; c = c.NextSibling {
					if c.Type == html.TextNode {
						inner, err := html.ParseFragment(strings.NewReader(c.Data), nil)
						if err != nil {
							t.Fatal(err)
						}
						for _, i := range inner {
							walk(i)
						}
					}
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	for _, ref := range refs {
		if u := resolve(t, based, ref); strings.HasPrefix(u, "http") {
			found[u] = true
		}
	}
	var all []string
	for u := range found {
		all = append(all, u)
	}
	sort.Strings(all)
	return all
}

func testWorld(t *testing.T, c simweb.Config) *Web {
	t.Helper()
	w, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A crawl of the bytes with other people's tokenizer and URL parser finds what the model says, and nothing else.
func TestG1_BytesAgreeWithModel(t *testing.T) {
	packing, links, drawn := simweb.Plain(), simweb.Plain(), simweb.Faulty()
	packing.GzipShare, links.PlainLinks = 1, true
	drawn.Drawn, drawn.Served, drawn.GzipShare = 0.5, 0.5, 0.5
	worlds := map[string]simweb.Config{
		"plain": simweb.Plain(), "faulty": simweb.Faulty(), "packing": packing, "plain links": links, "drawn": drawn,
	}
	for name, c := range worlds {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.Hosts, c.IPs, c.PagesPerHostMean, c.PageBytesMean = 40, 10, 12, 2000
				c.HTTPSShare = 0.3
				c.Timing.HugeBytes = 100_000
				c.Seed = 7
				crawlAgrees(t, testWorld(t, c))
			})
		})
	}
}

// The mean number of links that lead out of a page's host is that of the bytes, read by another parser.
func TestG1_LinksOutAgreeWithTheBytes(t *testing.T) {
	c := simweb.Plain()
	c.Hosts, c.PagesPerHostMean, c.PagesPerHostMax = 30, 5, 10
	c.Faults.NoHost = 0.05
	w := testWorld(t, c)
	truth := w.Expected(judge.ExpectOptions{Seeds: w.Seeds(2)})
	pages, out := 0, 0
	for u, class := range truth.All() {
		if class != judge.ClassPage {
			continue
		}
		pages++
		resp, body, err := get(t, w, ServeOptions{Plain: true}, u)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
			continue
		}
		_, host, _, _ := simweb.SplitURL(u)
		for _, l := range readLinks(t, u, body) {
			if _, authority, _, ok := simweb.SplitURL(l); ok && authority != host {
				out++
			}
		}
	}
	if want := float64(out) / float64(pages); truth.LinksOut() != want || want < 2 {
		t.Errorf("%v links a page lead out by the model, %v by the bytes of %d pages", truth.LinksOut(), want, pages)
	}
}

// What agents have to tell each other is what their pages say, by the bytes: each URL of another's host once, and the
// seeds.
func TestG1_TellingsAgreeWithTheBytes(t *testing.T) {
	c := simweb.Plain()
	c.Hosts, c.PagesPerHostMean, c.PagesPerHostMax = 30, 5, 10
	w := testWorld(t, c)
	seeds := w.Seeds(2)
	truth := w.Expected(judge.ExpectOptions{Seeds: seeds})
	const agents = 3
	owner := func(host string) int { return len(host) % agents }
	ownerOf := func(u string) int {
		_, authority, _, _ := simweb.SplitURL(u)
		host, _, _ := strings.Cut(authority, ":")
		return owner(host)
	}
	type telling struct {
		url  string
		from int
	}
	told := map[telling]bool{}
	for _, s := range seeds {
		for from := range agents {
			told[telling{s, from}] = from != ownerOf(s)
		}
	}
	for u, class := range truth.All() {
		resp, body, err := get(t, w, ServeOptions{Plain: true}, u)
		if err != nil {
			t.Fatal(err)
		}
		if class != judge.ClassPage || !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") {
			continue
		}
		for _, l := range readLinks(t, u, body) {
			if truth.ClassOf(l) != judge.ClassNone {
				told[telling{l, ownerOf(u)}] = ownerOf(l) != ownerOf(u)
			}
		}
	}
	want := 0
	for _, foreign := range told {
		if foreign {
			want++
		}
	}
	if got := truth.Tellings(agents, owner, seeds); got != want || want < 30 {
		t.Errorf("%d by the model, %d by the bytes", got, want)
	}
	if got := truth.Tellings(1, func(string) int { return 0 }, seeds); got != 0 {
		t.Errorf("one agent tells itself %d URLs", got)
	}
}

// A reader of href="..." and src="..." finds every link of a world of plain links, as it is, and nothing else.
func TestPlainLinksCanBeReadByAnybody(t *testing.T) {
	c := simweb.Plain()
	c.Hosts, c.PlainLinks = 20, true
	w := testWorld(t, c)
	reference := regexp.MustCompile(`(?i)\b(?:href|src|srcset|url|cite)="([^"]*)"`)
	links := 0
	for u := range w.Expected(judge.ExpectOptions{Seeds: w.Seeds(1)}).All() {
		body, _ := w.Payload(u, false)
		if !bytes.HasPrefix(body, []byte("<!DOCTYPE")) {
			continue
		}
		at, _ := w.Find(u)
		h := w.HostAt(int(at.Host))
		f := h.PageAt(int(at.Page))
		want := h.AppendLinks(nil, at, &f)
		found := reference.FindAllSubmatch(body, -1)
		if len(found) != len(want) && f.Copy == 0 {
			t.Errorf("%s: %d references, %d links", u, len(found), len(want))
		}
		for _, ref := range found {
			to := strings.ReplaceAll(string(ref[1]), "&amp;", "&")
			if strings.HasPrefix(to, "/") {
				to = strings.TrimSuffix(w.Root(int(at.Host)), "/") + to
			} else if strings.Count(to, "/") == 2 {
				to += "/" // a host alone
			}
			if _, ok := w.Find(to); !ok {
				t.Errorf("%s: %q is no link", u, ref[1])
			}
			links++
		}
	}
	if links < 1000 {
		t.Errorf("only %d links", links)
	}
}

func crawlAgrees(t *testing.T, w *Web) {
	truth := w.Expected(judge.ExpectOptions{Seeds: w.Seeds(2)})
	log := w.NewLog()
	queue := w.Seeds(2)
	seen := make(map[string]bool)
	for _, s := range queue {
		seen[s] = true
	}
	pages := 0
	for len(queue) > 0 {
		u := queue[0]
		queue = queue[1:]
		c := truth.ClassOf(u)
		if c == judge.ClassNone {
			t.Fatalf("%s found in the bytes, not in the model", u)
		}
		if c == judge.ClassDenied || c == judge.ClassNoHost {
			continue
		}
		resp, body, err := get(t, w, ServeOptions{Log: log, Plain: true}, u)
		for try := 0; try < 2 && (err != nil || resp.StatusCode >= 500); try++ {
			resp, body, err = get(t, w, ServeOptions{Log: log, Plain: true}, u)
		}
		found := []string{}
		switch {
		case err != nil || resp.StatusCode >= 400:
			if c != judge.ClassAttempt {
				t.Errorf("%s: class %v, but %v", u, c, err)
			}
		case resp.StatusCode >= 300:
			found = append(found, resolve(t, u, resp.Header.Get("Location")))
		default:
			if c != judge.ClassPage && c != judge.ClassCut {
				t.Errorf("%s: class %v, but stored", u, c)
			}
			pages++
			want, _ := w.Payload(u, false)
			if !bytes.Equal(want, body) {
				at, _ := w.Find(u)
				h := w.HostAt(int(at.Host))
				t.Errorf("%s: payload differs: shape %v, %d and %d bytes", u, h.PageAt(int(at.Page)), len(want), len(body))
			}
			if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/html") && !bytes.HasPrefix(body, []byte("\x1f\x8b")) {
				found = readLinks(t, u, body)
			}
		}
		for _, l := range found {
			if !seen[l] {
				seen[l] = true
				queue = append(queue, l)
			}
		}
	}
	if pages != truth.Pages() {
		t.Errorf("%d pages found in the bytes, %d in the model", pages, truth.Pages())
	}
	t.Logf("pages %d, attempts %d, denied %d, optional %d, no host %d, total %d", pages, truth.Count(judge.ClassAttempt),
		truth.Count(judge.ClassDenied), truth.Count(judge.ClassOptional), truth.Count(judge.ClassNoHost), w.PagesTotal())
}
