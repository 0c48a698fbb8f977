package hostile

import (
	"bytes"
	"testing"
	"time"

	"orbweaver/engine"
	"orbweaver/internal/outcome"
)

// The head comes a byte each ten seconds: no deadline for a single read would ever end that.
func TestHostile_H01_aHeadThatDripsIsCutAtItsDeadline(t *testing.T) {
	play(t, "H01", nil, func(tr *trial) {
		tr.wantsWithin("http://h01.test/", outcome.HeaderTimeout, 31*time.Second)
	})
}

// The body comes a byte each second.
func TestHostile_H02_aBodyThatDripsIsCutForItsRate(t *testing.T) {
	play(t, "H02", nil, func(tr *trial) {
		tr.wantsWithin("http://h02.test/", outcome.TruncatedTime, time.Minute)
		if rec := tr.record("http://h02.test/", "time"); !bytes.Contains(rec.Block, []byte("<p>drip......")) {
			tr.Errorf("what came is not kept: %q", rec.Block)
		}
	})
}

// The connection is accepted and nothing is said.
func TestHostile_H03_silenceIsCutAtTheDeadlineForHeads(t *testing.T) {
	play(t, "H03", func(c *engine.Config) { c.Workers.KeepAlive = -1 }, func(tr *trial) {
		tr.wantsWithin("http://h03.test/", outcome.HeaderTimeout, 31*time.Second)
	})
}

// The same on the connection of robots.txt: a network on the way may have forgotten it. The next one is new.
func TestHostile_H03_silenceOnAKeptConnectionShowsNothingOnce(t *testing.T) {
	play(t, "H03", nil, func(tr *trial) {
		for i, l := range tr.attempts("http://h03.test/") {
			if isFirst := l.outcome == outcome.Stale.String(); isFirst != (i == 0) {
				tr.Errorf("try %d: %s", i, l.outcome)
			}
		}
	})
}
