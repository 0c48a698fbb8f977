package storage

import (
	"runtime"
	"testing"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/internal/simweb"
)

// On one core the crawl is the same crawl.
func TestHostile_S15_onOneCoreTheCrawlIsWholeAndPolite(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	testbed.CrawlAndJudge(t, testbed.SmallWorld(*testbed.FirstSeed+1030, simweb.Faulty()), true, testbed.NoChange)
}
