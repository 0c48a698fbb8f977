package invitro

import (
	"runtime"
	"testing"

	"orbweaver/bench/simweb"
)

// On one core the crawl is the same crawl.
func TestHostile_S15_onOneCoreTheCrawlIsWholeAndPolite(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	crawlAndJudge(t, smallWorld(*firstSeed+1030, simweb.Faulty()), true, unchanged)
}
