package summary

import (
	"strings"
	"testing"

	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
)

// A crawl that left out many links because of its scope says so, and what follows them. A few are not worth a line.
func TestWriteReport_saysHowManyLinksTheScopeDropped(t *testing.T) {
	for dropped, want := range map[int64]bool{900: true, 3: false, 0: false} {
		r := report.Report{Scope: "domain", Dropped: map[string]int64{"scope": dropped}}
		r.URLsFound = 1000
		var out strings.Builder
		WriteReport(&out, "c1", r)
		line := "900 of 1,000 links lead outside the crawl (--scope domain); --scope all follows them all"
		if strings.Contains(out.String(), line) != want {
			t.Errorf("%d dropped:\n%s", dropped, &out)
		}
	}
}

// The numbers of a later pass are its own, except that of bytes in the archive, and the line says so.
func TestWriteReport_saysWhatIsOfAllPasses(t *testing.T) {
	for pass, want := range map[int]string{
		0: "bytes     2 KiB received, 3 MiB stored\n", 1: "bytes     2 KiB received, 3 MiB stored\n",
		2: "bytes     2 KiB received, 3 MiB stored by all passes\n",
	} {
		r := report.Report{Pass: pass, BytesStored: 3 << 20}
		r.BytesReceived = 2 << 10
		var out strings.Builder
		if WriteReport(&out, "c1", r); !strings.Contains(out.String(), want) {
			t.Errorf("pass %d:\n%s", pass, &out)
		}
	}
}

// Bodies that are not whole in the archive have a line, with the reasons and the way to list them.
func TestWriteReport_saysWhichBodiesAreNotWhole(t *testing.T) {
	for _, c := range []struct {
		outcomes map[string]int64
		want     string
	}{
		{map[string]int64{"ok": 5}, ""},
		{
			map[string]int64{"ok": 5, "truncated-length": 2, "no-memory": 1},
			"truncated 3 bodies are not whole in the archive: no-memory 1, truncated-length 2; to list them: zgrep -E " +
				"'truncated-|no-memory' c1/logs/crawl.log*; truncated-length: raise --max-body if they are too long; " +
				"no-memory: raise --max-body-files if the disk has room\n",
		},
		{
			map[string]int64{"ok": 5, "truncated-disconnect": 1},
			"truncated 1 body is not whole in the archive: truncated-disconnect 1; to list them: zgrep -E " +
				"'truncated-|no-memory' c1/logs/crawl.log*\n",
		},
		{
			map[string]int64{"truncated-time": 7},
			"crawl.log*; truncated-time: raise --slow-body-timeout or --exchange-timeout if servers need more time\n",
		},
	} {
		var out strings.Builder
		WriteReport(&out, "c1", report.Report{Outcomes: c.outcomes})
		if got := out.String(); !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "truncated") {
			t.Errorf("%v:\n%s", c.outcomes, got)
		}
	}
}

// Answers with a bad certificate and skipped URLs have a line with the command that lists them.
func TestWriteReport_saysWhichReportListsThem(t *testing.T) {
	r := report.Report{
		CertificateFaults: map[string]int64{"expired": 2, "wrong-name": 4}, Skipped: map[string]int64{"endless-part": 1200},
	}
	r.BadCertificates, r.Stats = 6, map[string]float64{"slow": 2.5, "bytes": 3e9}
	for dir, lines := range map[string][]string{
		"c1": {
			"  tls       6 answers came with a certificate that does not verify (wrong-name 4, expired 2); " +
				"to list them: orbweaver report c1 tls\n",
			"  skipped   endless-part 1,200; to list them: orbweaver skipped c1\n",
		},
		"": {"orbweaver report DIR tls\n", "  stats     bytes=3000000000 slow=2.5\n"},
	} {
		var out strings.Builder
		WriteReport(&out, dir, r)
		for _, line := range lines {
			if !strings.Contains(out.String(), line) {
				t.Errorf("no line %q:\n%s", line, &out)
			}
		}
	}
	r.Resumed, r.BadCertificates = 1, 60
	var out strings.Builder
	WriteReport(&out, "c1", r)
	if want := "60 answers came with a certificate that does not verify (in this run: wrong-name 4, expired 2)"; !strings.
		Contains(out.String(), want) {
		t.Errorf("resumed:\n%s", &out)
	}
	out.Reset()
	if WriteReport(&out, "c1", report.Report{}); strings.Contains(out.String(), "tls") ||
		strings.Contains(out.String(), "skipped") {
		t.Errorf("nothing to list:\n%s", &out)
	}
}

// The first line says the state, and why only where there is more to say.
func TestWriteReport_beginsWithTheStateAndItsReason(t *testing.T) {
	for want, r := range map[string]report.Report{
		"running\n":            {State: lifecycle.Running},
		"finished: complete\n": {State: lifecycle.Finished, Reason: lifecycle.ReasonComplete},
		"stopped: by a signal or the operator; resume with: orbweaver crawl --dir c1\n": {
			State: lifecycle.Stopped, Reason: lifecycle.ReasonSignal,
		},
	} {
		var out strings.Builder
		if WriteReport(&out, "c1", r); !strings.HasPrefix(out.String(), want) {
			t.Errorf("%q, want %q", out.String(), want)
		}
	}
}
