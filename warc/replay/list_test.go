package replay

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// The list has what a person opens: also PDF, pages that are stored as a repetition of another one, and pages without a
// type. It has no images. A part of an address finds pages, in the letters of the reader.
func TestHandler_listsWhatAPersonOpens(t *testing.T) {
	s, h := emptyArchive(t)
	s.page("http://a.test/", "200 OK\r\nContent-Type: text/html", "<title>start</title>")
	s.repeat("http://a.test/index.html", "text/html", "http://a.test/")
	s.repeat("http://a.test/image", "image/png", "http://a.test/")
	s.repeat("http://a.test/image.png", "image/png", "http://a.test/")
	s.page("http://a.test/s%C3%BCd/a%20b", "200 OK\r\nContent-Type: application/pdf", "%PDF-1.4")
	s.page("http://a.test/untyped", "200 OK\r\nServer: x", "<!DOCTYPE html><title>untyped</title>")
	s.page("http://a.test/bytes", "200 OK\r\nServer: x", "\x00\x01\x02")
	s.page("http://b.test/dot.png", "200 OK\r\nContent-Type: image/png", "x")
	listed := func(path string) (all []string) {
		t.Helper()
		resp, body := ask(t, h, path)
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d\n%s", path, resp.StatusCode, body)
		}
		for _, part := range strings.Split(body, "<tr>")[1:] {
			if _, rest, ok := strings.Cut(part, `<a href="`); ok {
				address, _, _ := strings.Cut(rest, `"`)
				_, url, _ := strings.Cut(address, "http://a.test")
				all = append(all, readable(url))
			}
		}
		return all
	}
	for path, want := range map[string]string{
		"/":                              "[/ /index.html /süd/a%20b /untyped]",
		"/?url=a.test/s":                 "[/süd/a%20b]",
		"/?url=S%C3%BCD":                 "[/süd/a%20b]", // no host has this name
		"/?url=index":                    "[/index.html]",
		"/?url=typed":                    "[/untyped]",
		"/?url=START":                    "[/ /index.html]", // a title
		"/?url=of+nothing":               "[]",
		"/?url=t&anywhere=1&from=test,z": "[]",
	} {
		if got := fmt.Sprint(listed(path)); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// The first page has the seeds before all others, titles, how often each page was captured, and what is in the archive.
func TestHandler_showsSeedsAndCounts(t *testing.T) {
	s, h := emptyArchive(t)
	s.page("http://a.test/", "200 OK\r\nContent-Type: text/html", "<title>The  &lt;first> page</title>")
	s.page("http://b.test/", "200 OK\r\nContent-Type: text/html", "<title>The seed</title>")
	s.page("http://a.test/", "200 OK\r\nContent-Type: text/html", "<title>The new first page</title>")
	s.page("http://a.test/dot.png", "200 OK\r\nContent-Type: image/png", "x")
	handler, ok := h.(*Handler)
	if !ok {
		t.Fatal("no Handler")
	}
	handler.o.Seeds = []string{"http://b.test/", "http://not.test/"}
	handler.o.Titles = map[string]string{"http://b.test/": "What a script  made of it", "http://a.test/dot.png": "no page"}
	if _, body := ask(t, h, "/?url=script+made"); strings.Count(body, "What a script made of it") != 1 {
		t.Errorf("words of a given title do not find it:\n%s", body)
	}
	if _, body := ask(t, h, "/"); strings.Count(body, "What a script made of it") != 2 {
		t.Errorf("a given title is not shown:\n%s", body)
	}
	handler.o.Titles = nil
	_, body := ask(t, h, "/")
	at := 0
	for _, want := range []string{
		`<label for="url">`, "<dt>Captures</dt><dd>4</dd>", "<dt>Addresses</dt><dd>3</dd>", "<dd>2 Jan 2026</dd>",
		"text/html 3",
		"<h2>Seeds</h2>", `<a href="/20260102030406/http://b.test/">The seed</a>`, "All pages",
		`<a href="/20260102030407/http://a.test/">The new first page</a>`,
		`<a href="/captures?url=http%3a%2f%2fa.test%2f">2<`,
	} {
		found := strings.Index(body[at:], want)
		if found < 0 {
			t.Fatalf("no %q behind byte %d of\n%s", want, at, body)
		}
		at += found
	}
}

// More pages than a list has are on further ones: each once, with all its captures.
func TestHandler_pagesALongList(t *testing.T) {
	s, h := emptyArchive(t)
	const pages = 2*listMost + 7
	for i := range pages {
		s.page(fmt.Sprintf("http://a.test/%03d", i), "200 OK\r\nContent-Type: text/html", "x")
		s.page(fmt.Sprintf("http://a.test/%03d", i), "200 OK\r\nContent-Type: text/html", "y")
	}
	seen := 0
	for path := "/"; path != ""; {
		_, body := ask(t, h, path)
		seen += strings.Count(body, `">2<span`)
		_, next, found := strings.Cut(body, `<p class="more"><a href="`)
		path = ""
		if found {
			next, _, _ = strings.Cut(next, `"`)
			path = "/" + strings.ReplaceAll(next, "&amp;", "&")
		}
	}
	if seen != pages {
		t.Errorf("%d pages with two captures are listed, want %d", seen, pages)
	}
}

// What is missing is seen as missing: a page names those near it, also in a frame, and an image has a frame with words.
func TestHandler_showsWhatIsMissing(t *testing.T) {
	h := site(t)
	const at = "/20260102030405/https://a.test/"
	for _, c := range []struct{ url, dest, referer, kind, body string }{
		{"none", "document", "", "text/html; charset=utf-8", `<a href="/https://a.test/">https://a.test/</a>`},
		{"none", "iframe", at, "text/html; charset=utf-8", "Not in the archive"},
		{"none.png", "image", at, "image/svg+xml", ">not in the archive<"},
		{"none.png", "image", at + "style.css", "text/plain; charset=utf-8", "not in the archive\n"},
		{"none.js", "script", at, "text/plain; charset=utf-8", "not in the archive\n"},
	} {
		resp, body := ask(t, h, at+c.url, "Sec-Fetch-Dest", c.dest, "Referer", "http://127.0.0.1:80"+c.referer)
		kind := resp.Header.Get("Content-Type")
		if resp.StatusCode != http.StatusNotFound || kind != c.kind || !strings.Contains(body, c.body) {
			t.Errorf("%s for %s: %d %s\n%s", c.url, c.dest, resp.StatusCode, kind, body)
		}
		policy := resp.Header.Get("Content-Security-Policy")
		if c.dest == "iframe" && !strings.Contains(policy, "frame-ancestors 'self'") {
			t.Errorf("a frame may not show %q", policy)
		}
	}
}

// Letters are shown instead of their codes, unless the codes are no text.
func TestReadable(t *testing.T) {
	for url, want := range map[string]string{
		"http://a.test/%E6%97%A5%e6%9c%ac/?q=K%C3%B6ln": "http://a.test/日本/?q=Köln",
		"http://a.test/a%20b%2Fc%3F":                    "http://a.test/a%20b%2Fc%3F",
		"http://a.test/%FF%C3%BC":                       "http://a.test/%FF%C3%BC",
		"http://a.test/%E2%80%AE%C3":                    "http://a.test/%E2%80%AE%C3", // the direction of the text
		"http://a.test/%C3%B":                           "http://a.test/%C3%B",
		"http://a.test/%":                               "http://a.test/%",
		"http://a.test/%zz%C3%xy":                       "http://a.test/%zz%C3%xy",
		"http://a.test/%C3%BC%":                         "http://a.test/ü%",
	} {
		if got := readable(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}
