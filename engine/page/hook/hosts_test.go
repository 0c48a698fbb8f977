package hook

import (
	"bytes"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A host is asked about after N pages and then every M. One without an answer is asked about with the next page.
func TestHosts_askAfterSomePages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		isDown := true
		x := &scripted{kind: HostKind, began: time.Now(), answer: func(int) bool { return !isDown }}
		h := NewHosts(Options{Hooks: []string{"host:5:10=x"}, Parallel: 1, Timeout: time.Minute}, x,
			slog.New(slog.DiscardHandler))
		var asked []int
		for n := 1; n <= 30; n++ {
			isDown = n < 7
			before := h.Stats().Questions
			_, err := h.AskAfter(t.Context(), &SitePage{URL: []byte("http://a.test/"), Number: n})
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(h.Stats().Questions) != fmt.Sprint(before) {
				asked = append(asked, n)
			}
			time.Sleep(time.Hour)
		}
		if want := []int{5, 6, 7, 15, 25}; !slices.Equal(asked, want) {
			t.Errorf("asked at %v, want %v", asked, want)
		}
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
}

// What an answer says becomes one rule.
func TestHosts_ruleOfAnAnswer(t *testing.T) {
	h := NewHosts(Options{}, nil, slog.New(slog.DiscardHandler))
	for want, a := range map[string]Answer{
		"":                                 {},
		"a.test exclude":                   {Block: true},
		"a.test exclude max-per-host=7":    {Block: true, Budget: 7},
		"a.test max-per-host=7 not-before": {Budget: 7, Postpone: 60},
	} {
		if got := h.ruleLocked("a.test", &a); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%+v: %q, want %q", a, got, want)
		}
	}
}

// The words of a page are counted without tags, scripts and styles, and a stream of new words forgets rare ones.
func TestTerms(t *testing.T) {
	var counted terms
	text := counted.add([]byte(`<title>Cheap pills</title><script>var pills="</p>"</SCRIPT><style>x{}</style>` +
		`<p class=pills>buy PILLS&amp;Pillen für 3 <b>dollars`))
	if got := counted.top(); got["pills"] != 2 || got["für"] != 1 || got["var"] != 0 || got["class"] != 0 ||
		text != "Cheap pills buy PILLS amp Pillen für 3 dollars" {
		t.Errorf("%v, %q", got, text)
	}
	var long terms
	if long.add(bytes.Repeat([]byte("word<p>"), 5000)); long.counts["word"] != wordsMost {
		t.Errorf("%v of a long page", long.counts)
	}
	for i := range 20_000 {
		counted.add(fmt.Appendf(nil, "word%d casino <script", i))
	}
	if got := counted.top(); len(counted.counts) > termsMost || len(got) > termsTold || got["casino"] < 10_000 {
		t.Errorf("%d words, %v", len(counted.counts), got)
	}
}
