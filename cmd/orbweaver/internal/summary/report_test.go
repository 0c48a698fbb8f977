package summary

import (
	"strings"
	"testing"

	"orbweaver/engine/report"
)

// A crawl that left out many links because of its scope says so, and what follows them. A few are not worth a line.
func TestWriteReport_saysHowManyLinksTheScopeDropped(t *testing.T) {
	for dropped, want := range map[int64]bool{900: true, 3: false, 0: false} {
		r := report.Report{Scope: "domain", Dropped: map[string]int64{"scope": dropped}}
		r.URLsFound = 1000
		var out strings.Builder
		WriteReport(&out, r)
		line := "900 of 1000 links lead outside the crawl (--scope domain); --scope all follows them all"
		if strings.Contains(out.String(), line) != want {
			t.Errorf("%d dropped:\n%s", dropped, &out)
		}
	}
}
