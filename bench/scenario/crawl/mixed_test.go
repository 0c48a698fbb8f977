package crawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"orbweaver/bench/scenario/story"
	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/page/hook"
)

// drawn are choices for a story: one of each row that is drawn.
type drawn []string

// mixedSettings are settings with which a crawl still fetches the whole web. One of a row may be drawn. No host-delay
// is below the Crawl-delay of the web: after a power cut that may not be known.
var mixedSettings = []drawn{
	{"visit=per-host:2", "visit=per-host:1000", "visit=bottom-up", "visit=ranked", "visit=focused score=1"},
	{"requisites=off", "requisites=same-scope"},
	{"keep-alive=1s", "keep-alive=5s", "keep-alive=0"},
	{"Workers.Fetchers=1", "Workers.Fetchers=3", "Workers.Fetchers=200"},
	{"Workers.Parsers=1", "Workers.Parsers=5"},
	{"Workers.SiteItems=1", "Workers.SiteItems=8"},
	{"Workbench.MemoryMax=16384 Cold.SegmentBytes=4096 Cold.BufferBytes=1024"},
	{"Archive.SizeMax=65536", "Archive.SizeMax=524288"},
	{"Sieve.BucketBytes=65536"},
	{"checkpoint=1s", "checkpoint=5s", "checkpoint=3m"},
	{"Intervals.Sync=5ms", "Intervals.Sync=2s"},
	{"warc-compression=zstd", "warc-compression=none", "warc-level=6"},
	{"metadata", "warc-metadata=none", "warc-metadata=all"},
	{"warc-via", "warc-outlinks", "warc-via warc-outlinks"},
	{"warc-dns=none", "warc-manifest=none"},
	{"near-duplicates=mark"},
	{"novelty=off", "trap-floor=1"},
	{"cookies=site"},
	{"bandwidth=40000", "host-bandwidth=20000", "bandwidth=100000 host-bandwidth=10000"},
	{"max-body-files=1048576"},
	{"ip-delay=2s", "host-delay=10s"},
	{"hook=page=moody", "hook=page=moody hook-full=skip hook-parallel=1", "hook=link=moody", "hook=host:3:2=moody"},
	{"max-depth=1000", "max-path-repeats=1000", "max-per-host=100000"},
}

// mixedEvents are what happens while the crawl runs: each leaves a crawl that runs, or one that has ended.
var mixedEvents = drawn{
	"kill", "kill", "kill power", "kill power", "stop",
	"kill\nrebuild lost", "stop\nrebuild lost", "stop\nrebuild", "kill power\nrebuild lost",
	"pause\nwait 1m + rand(10m)\nresume\nwait rand(20s)\nstop",
	"pause\nwait rand(20s)\nkill",
	"fill rand(100000)\nwait rand(2m)\nkill power\nfill 1000000000000",
	"fill rand(100000)\nwait rand(2m)\nfill 1000000000000\nwait rand(20s)\nkill",
	"fill rand(30000)\nwait rand(10m)\nfill 1000000000000\nstop",
	"cut proxy\nwait rand(10m)\nheal proxy\nwait rand(20s)\nstop",
	"cut proxy timeout\nwait rand(40s)\nkill\nheal proxy",
	"change visit=ranked\nwait rand(20s)\nkill", "change visit=breadth-first\nwait rand(20s)\nstop",
	"change fetchers=1\nwait rand(20s)\nkill power", "change bandwidth=30000\nwait rand(20s)\nkill",
	"change host-delay=20s\nwait rand(1m)\nkill",
	"change requisites=off\nwait rand(20s)\nstop",
}

// mixedStory is a story of random settings and events.
func mixedStory(seed uint64) string {
	random := rand.New(rand.NewPCG(seed, 17))
	one := func(d drawn) string { return d[random.IntN(len(d))] }
	var b strings.Builder
	kind := one(drawn{"plain", "faulty", "faulty many", "faulty copies", "plain Unlinked=0.1", "faulty Unlinked=0.1",
		"plain Drawn=0.5 Served=0.5", "faulty Drawn=0.5 Served=0.5"})
	fmt.Fprintf(&b, "story Mixed_%d from=%d\nweb %s\nmoody\nset stall-wait=2h\n", seed, seed-*testbed.FirstSeed, kind)
	if strings.Contains(kind, "Unlinked") { // the judge expects requests for pages that do not exist
		fmt.Fprintf(&b, "set %s\n", one(drawn{"sitemaps", "mine=ancestors", "mine=ancestors sitemaps"}))
	}
	for _, row := range mixedSettings {
		if random.IntN(4) == 0 {
			fmt.Fprintf(&b, "set %s\n", one(row))
		}
	}
	events := func() {
		for range random.IntN(5) {
			fmt.Fprintf(&b, "start\nwait 5s + rand(40s)\n%s\n", one(mixedEvents))
			if random.IntN(3) == 0 {
				b.WriteString("expect fsck()\n")
			}
		}
		b.WriteString("run\n")
	}
	b.WriteString("let kills = 0\n")
	events()
	switch story := b.String(); {
	case strings.Contains(story, "cut"): // a body that an outage broke off is stored, and stored whole later
		b.WriteString("expect judge().Coverage == 1 and judge().Unexpected == 0 and polite() and fsck()\n")
	case strings.Contains(story, "bandwidth"): // a stop may break off a slow body
		b.WriteString("expect sound(kills * 300 + 30) and fsck()\n")
	default:
		b.WriteString("expect sound(kills * 300) and fsck()\n")
	}
	if strings.Contains(kind, "Drawn") {
		b.WriteString("expect judge().Drawn.Recall == 1 and judge().Drawn.Precision == 1\n")
	}
	if random.IntN(3) == 0 {
		b.WriteString("set Refresh=true\n")
		events()
		b.WriteString("expect judge().Coverage == 1 and polite() and fsck()\n")
	}
	b.WriteString("wait 2m\n") // for a moody program
	return b.String()
}

// Settings and events that have each their own story are drawn together, since faults are where they meet.
func TestStories_mixed(t *testing.T) {
	for i := range testbed.Reduce(20*(*testbed.SeedCount), 3) {
		seed := *testbed.FirstSeed + 30_000 + uint64(i)
		program := &moody{random: rand.New(rand.NewPCG(seed, 18))}
		story.Play(t, mixedStory(seed), story.Verbs{
			"moody": func(s *story.Story, _ []string) { s.Rig.Hook = program },
		})
	}
}

// moody is a program of --hook without opinions, which is slow, silent, wrong or dead now and then. It implements
// hook.Starter.
type moody struct {
	mu     sync.Mutex
	random *rand.Rand
}

// Start implements hook.Starter.
func (x *moody) Start(string) (hook.Program, error) {
	if x.draw(10) == 0 {
		return nil, errors.New("it does not start today")
	}
	return startPipes(x.answer), nil
}

func (x *moody) draw(n int) int {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.random.IntN(n)
}

// answer answers a frame.
func (x *moody) answer(head, _ []byte) string {
	switch x.draw(60) {
	case 0:
		time.Sleep(time.Minute)
	case 1, 2, 3:
		time.Sleep(time.Second)
	case 4:
		return "?"
	}
	var question struct {
		ID int `json:"id"`
	}
	if err := json.Unmarshal(head, &question); err != nil {
		return err.Error()
	}
	return fmt.Sprintf(`{"v":1,"id":%d}`, question.ID)
}
