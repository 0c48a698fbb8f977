package links

import (
	"fmt"
	"strings"
	"testing"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
)

// scores returns the score and path of each link of a page.
func scores(t *testing.T, l *Finder, page string) string {
	t.Helper()
	url := []byte("http://a.test/")
	p, ok := fetch.Stored(url, []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"+page))
	if !ok {
		t.Fatal("no page")
	}
	if l.Open(Page{URL: url, Page: p, Size: p.PayloadLen}) {
		l.Scan(url, p, queued.Called{})
	}
	var all []string
	err := journal.EachScored(l.Links, func(_ parse.Kind, score int, url []byte) {
		all = append(all, fmt.Sprintf("%d %s", score, strings.TrimPrefix(string(url), "http://a.test")))
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, ", ")
}

// Each link has the score of its own text, and of its page. A page without text follows one with text.
func TestScan_scoresLinks(t *testing.T) {
	f, err := filter.Compile(&filter.Options{
		Score: `(anchor contains "jazz" ? 4 : 0) + via_count("swing") + (via_title == "t" ? 8 : 0)`,
	}, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	l := NewFinder(Options{By: Filters{Score: f.Score}})
	const page = `<title>T</title><a href=mailto:x>jazz</a><a href=/a>Big <b>Jazz</b> bands</a> jazz <a href=/b>rock</a>` +
		`<img src=/i alt=jazz><a href=/c>jazz</a> swing, Swing`
	for range 2 {
		if got := scores(t, l, page); got != "14 /a, 10 /b, 10 /i, 14 /c" {
			t.Error(got)
		}
		if got := scores(t, l, "<a href=/d></a>"); got != "0 /d" {
			t.Error(got)
		}
	}
	l.Redirect([]byte("http://a.test/"), []byte("/next"))
	if err := journal.EachScored(l.Links, func(_ parse.Kind, score int, _ []byte) {
		if score != queued.ScoreMax {
			t.Errorf("the target of a redirect has %d", score)
		}
	}); err != nil {
		t.Error(err)
	}
}
