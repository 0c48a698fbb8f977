package storage

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// told is what the metadata record of a page says.
type told struct {
	via, way string
	seed     bool
	outlinks map[string]string // URL to letter
}

// toldIn reads the metadata records of an archive, by URL, and the names that dns records are about. Where a URL has
// several, the first that is no retry counts.
func toldIn(t *testing.T, fsys vfs.FS) (pages map[string]*told, names map[string]string) {
	t.Helper()
	pages, names = map[string]*told{}, map[string]string{}
	var capture warc.ID
	testbed.EachRecord(t, fsys, func(rec *warc.RecordRead) {
		switch {
		case rec.IsDNS():
			names[strings.TrimPrefix(string(rec.TargetURI), "dns:")] = string(rec.Block)
		case rec.Type == warc.Response, rec.Type == warc.Revisit:
			capture = rec.ID
		case rec.Type == warc.Metadata:
			if rec.Get("WARC-Concurrent-To") != "<"+capture.String()+">" {
				t.Errorf("the metadata of %s goes with %s", rec.TargetURI, rec.Get("WARC-Concurrent-To"))
			}
			pages[string(rec.TargetURI)] = parseTold(string(rec.Block))
		}
	})
	return pages, names
}

func parseTold(block string) *told {
	p := &told{outlinks: map[string]string{}}
	for line := range strings.Lines(block) {
		name, value, _ := strings.Cut(strings.TrimRight(line, "\r\n"), ": ")
		switch name {
		case "seed":
			p.seed = true
		case "via":
			p.via = value
		case "hopsFromSeed":
			p.way = value
		case "outlink":
			words := strings.SplitN(value, " ", 3)
			if _, there := p.outlinks[words[0]]; !there {
				p.outlinks[words[0]] = words[1]
			}
		}
	}
	return p
}

// Every page says which page led to it and by what hops; that page lists it, by the same letter, and has its own way to
// tell; so the way of every page leads back to a seed.
func TestMetadata_everyPageIsListedByThePageThatItSaysLedToIt(t *testing.T) {
	for _, proxy := range []bool{false, true} {
		t.Run(fmt.Sprintf("proxy %v", proxy), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+40, simweb.Faulty()), proxy)
				cfg := rig.Config()
				testbed.AllMetadata(&cfg)
				if _, err := rig.Crawl(t.Context(), cfg, rig.FS); err != nil {
					t.Fatal(err)
				}
				if err := rig.Net.Close(); err != nil {
					t.Error(err)
				}
				v, err := rig.Judge(testbed.Promise(cfg), rig.FS)
				if err != nil || !v.Sound() {
					v.Print(t.Output())
					t.Errorf("the oracle complains (%v)", err)
				}
				pages, names := toldIn(t, rig.FS)
				if known := leadBack(t, pages, true); known < 50 {
					t.Errorf("only %d pages have a way", known)
				}
				if proxy != (len(names) == 0) {
					t.Errorf("%d names, behind a proxy: %v", len(names), proxy)
				}
				for name, said := range names {
					denied := strings.Contains(said, "\n; "+name+". A: NXDOMAIN\n")
					if denied == strings.Contains(said, "\n"+name+".\t") || len(said) < 15 || said[14] != '\n' {
						t.Errorf("of %s: %q", name, said)
					}
				}
			})
		})
	}
}

// leadBack follows each page's way one step back, and gives the number of those that have one. Without strict some may
// not know it.
func leadBack(t *testing.T, pages map[string]*told, strict bool) (known int) {
	t.Helper()
	for url, p := range pages {
		switch {
		case strings.HasSuffix(url, "/robots.txt"), p.way == "P":
		case p.seed:
			if p.via != "" || p.way != "" {
				t.Errorf("the seed %s came by %s from %s", url, p.way, p.via)
			}
		case p.via == "", p.way == "" && strict:
			t.Errorf("nobody knows how %s was found", url)
		case p.way != "":
			known++
			from := pages[p.via]
			if from == nil {
				t.Errorf("%s came from %s, which was not stored", url, p.via)
				continue
			}
			letter, listed := from.outlinks[url]
			if !listed && strict {
				t.Errorf("%s says that it came from %s, which does not list it", url, p.via)
			}
			if want := from.way + letter; listed && from.way != "" && len(p.way) != len(want) {
				t.Errorf("%s came by %s, and %s by %s: %s", url, p.way, p.via, from.way, letter)
			}
		}
	}
	return known
}

// A crawl that is killed again and again forgets the via of no page. If the hop path is not known
// any more, none is written.
func TestMetadata_aKilledCrawlStillKnowsWhereItsPagesCameFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+41, simweb.Plain()), false)
		cfg := rig.Config()
		testbed.AllMetadata(&cfg)
		rng := rand.New(rand.NewPCG(*testbed.FirstSeed, 41))
		disk, kills := rig.FS, 0
		for ; kills < 6; kills++ {
			clone, ended := testbed.Kill(t, rig, cfg, disk,
				time.Second+time.Duration(rng.Int64N(int64(20*time.Second))), testbed.Sigkill)
			disk = clone
			if ended {
				break
			}
		}
		if kills == 0 {
			t.Fatal("nothing was killed")
		}
		testbed.ResumeToEnd(t, rig, cfg, disk, kills*cfg.Workers.Fetchers)
		pages, names := toldIn(t, disk)
		if known := leadBack(t, pages, false); known < 50 || len(names) == 0 {
			t.Errorf("%d pages have a way, %d names an answer", known, len(names))
		}
	})
}
