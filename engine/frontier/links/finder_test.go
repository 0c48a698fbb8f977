package links

import (
	"slices"
	"testing"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
)

// linksOf are the links of a response, found as a parse worker does.
func linksOf(t *testing.T, nofollow bool, response string) (links []string) {
	t.Helper()
	url := []byte("http://a.test/dir/page")
	p, ok := fetch.Stored(url, []byte(response))
	if !ok {
		t.Fatalf("%q is no response", response)
	}
	l := NewFinder(Options{Nofollow: nofollow})
	if l.Forbids(p) {
		return nil
	}
	l.Scan(url, p, queued.Called{})
	err := journal.EachLink(l.Links, func(_ parse.Kind, url []byte) { links = append(links, string(url)) })
	if err != nil {
		t.Fatal(err)
	}
	return links
}

func TestNoFollowIsObeyedWhereverItStandsAndOnlyByOption(t *testing.T) {
	const one, two = "http://a.test/1", "http://a.test/dir/2"
	body := func(head, rel string) string { return head + "<a href=/1>1</a><a rel='" + rel + "' href=2>2</a>" }
	for name, c := range map[string]struct {
		fields, body string
		want         []string
	}{
		"nothing":             {"", body("", "next"), []string{one, two}},
		"rel":                 {"", body("", "noopener NOFOLLOW"), []string{one}},
		"rel of another sort": {"", body("", "nofollows ugc"), []string{one, two}},
		"meta":                {"", body("<meta name=robots content='noindex, nofollow'>", ""), nil},
		"meta none":           {"", body("<meta name=ROBOTS content=none>", ""), nil},
		"meta of our own":     {"", body("<meta name=orbweaver content=nofollow>", ""), nil},
		"meta of another":     {"", body("<meta name=otherbot content=nofollow>", ""), []string{one, two}},
		"meta noindex":        {"", body("<meta name=robots content=noindex>", ""), []string{one, two}},
		"header":              {"X-Robots-Tag: nofollow\r\n", body("", ""), nil},
		"header none":         {"x-robots-tag: None\r\n", body("", ""), nil},
		"header of our own":   {"X-Robots-Tag: orbweaver: noindex, nofollow\r\n", body("", ""), nil},
		"header of another":   {"X-Robots-Tag: otherbot: nofollow\r\n", body("", ""), []string{one, two}},
		"header noindex":      {"X-Robots-Tag: noindex\r\n", body("", ""), []string{one, two}},
		"the second of two":   {"X-Robots-Tag: otherbot: none\r\nX-Robots-Tag: nofollow\r\n", body("", ""), nil},
		"header, rel and meta": {"X-Robots-Tag: noarchive\r\n", body("<meta name=robots content=index>", "nofollow"),
			[]string{one}},
	} {
		response := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + c.fields + "\r\n" + c.body
		if got := linksOf(t, true, response); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
		if got := linksOf(t, false, response); !slices.Equal(got, []string{one, two}) {
			t.Errorf("%s, without the option: got %q", name, got)
		}
	}
}
