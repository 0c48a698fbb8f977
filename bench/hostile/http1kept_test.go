package hostile

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/outcome"
)

// own checks that each page of a host with kept connections is that of its own path.
func (tr *trial) own(host string) {
	tr.Helper()
	if tr.report.ConnsReused == 0 {
		tr.Error("no connection was used twice: nothing is proven")
	}
	for _, path := range []string{"/a", "/b", "/c", "/d"} {
		url := "http://" + host + path
		tr.wants(url, outcome.OK)
		for _, rec := range tr.records[url] {
			if body := string(bodyOf(rec)); !strings.HasSuffix(body, "<p>this is "+path+"\n") ||
				bytes.Contains(rec.Block, []byte("stolen")) {
				tr.Errorf("%s has %q", url, rec.Block)
			}
		}
	}
}

// What has no body has none, whatever comes; and what comes belongs to no request.
func TestHostile_H22_noBodyIsNoBody(t *testing.T) {
	play(t, "H22", keepAlive, func(tr *trial) {
		tr.own("h22.test")
		tr.all(
			"h22.test",
			want{"/204", outcome.OK, "", ""},
			want{"/304", outcome.Unasked, "", ""},
			want{"/204-length", outcome.OK, "", ""},
		)
	})
}

// Rubbish behind an answer, at once or a little later, is no beginning of the next one.
func TestHostile_H23_rubbishBetweenAnswersIsNoneOfThem(t *testing.T) {
	play(t, "H23", keepAlive, func(tr *trial) { tr.own("h23.test") })
}

// An answer without a request is not the answer to what is asked next.
func TestHostile_H24_noPageGetsTheBodyOfAnother(t *testing.T) {
	play(t, "H24", keepAlive, func(tr *trial) { tr.own("h24.test") })
}

// A server that closes a kept connection as the next request comes may have read it: the page is asked for once more,
// on a connection of its own, and not before the site's delay is over. (The table has one transparent retry that counts
// once; a request that the server may have seen counts here, as the server counts it.)
func TestHostile_H25_aConnectionClosedAsWeWriteIsOneTryMore(t *testing.T) {
	play(t, "H25", keepAlive, func(tr *trial) {
		stale := 0
		for _, path := range []string{"/a", "/b", "/c", "/d"} {
			url := "http://h25.test" + path
			lines := tr.attempts(url)
			last := lines[len(lines)-1]
			if len(lines) > 2 || last.outcome != outcome.OK.String() {
				tr.Errorf("%s: %+v", url, lines)
			}
			if len(lines) == 2 {
				stale++
				if lines[0].outcome != outcome.Stale.String() ||
					last.at.Add(-last.took).Sub(lines[0].at) < tr.cfg.Politeness.HostDelay-2*time.Millisecond {
					tr.Errorf("%s: %+v", url, lines)
				}
			}
		}
		if stale == 0 {
			tr.Error("no connection was stale: nothing is proven")
		}
	})
}
