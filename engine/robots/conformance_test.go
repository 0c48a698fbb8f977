package robots

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/engine/urlx"
)

// conformance names a directory with the published cases of a well-known parser, as google_robots_cases.json.
var conformance = flag.String("conformance", "", "directory with google_robots_cases.json")

// deviations are the published cases, by upstream's line, where RFC 9309 says otherwise and we follow the RFC: octets
// that are the same when un-escaped are the same (2.2.2, last row of its table), and an index.html that is allowed does
// not make its directory allowed.
var deviations = map[int]bool{419: true, 430: true, 441: true, 505: true}

// TestConformance scores this package on the published cases. It needs their data and is skipped without.
func TestConformance(t *testing.T) {
	if *conformance == "" {
		t.Skip("no -conformance directory")
	}
	text, err := os.ReadFile(filepath.Join(*conformance, "google_robots_cases.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Test, Robots, Agent, URL string
		Line                     int
		Allowed                  bool
		GoogleOnly               bool `json:"google_only"`
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	passed, total := map[bool]int{}, map[bool]int{}
	for _, c := range cases {
		path := []byte("/")
		if url, err := urlx.Normalize(nil, []byte(c.URL)); err == nil {
			_, path = urlx.Split(url)
		} else if _, rest, ok := strings.Cut(c.URL, "//"); ok { // longer than our URLs may be, and otherwise plain
			path = []byte(rest[strings.IndexByte(rest, '/'):])
		}
		total[c.GoogleOnly]++
		v := Parse([]byte(c.Robots), c.Agent).Explain(path)
		if v.Allowed == c.Allowed {
			passed[c.GoogleOnly]++
		} else if t.Logf("%s:%d: %.60q %s %s: %+v", c.Test, c.Line, c.Robots, c.Agent, path, v); !deviations[c.Line] {
			t.Errorf("line %d fails and is no known deviation", c.Line)
		}
	}
	t.Logf("RFC 9309: %d of %d; beyond it: %d of %d", passed[false], total[false], passed[true], total[true])
}
