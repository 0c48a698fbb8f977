package crawl

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/operate/feed"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/lookup"
)

// drawnWorld is a web where each tool makes pages that a browser must draw, and pages from servers.
func drawnWorld(t *testing.T, c simweb.Config, pagesOfHost int) simweb.Config {
	t.Helper()
	c = testbed.SmallWorld(*testbed.FirstSeed+500, c)
	c.PagesPerHostMean, c.PagesPerHostMax, c.ExternalShare = pagesOfHost, 5*pagesOfHost, 0.6
	c.Hosts, c.IPs, c.Drawn, c.Served, c.GzipShare = 100, 30, 0.5, 0.8, 0.5
	return testbed.DrawWorld(t, c, func(m *simweb.Model) bool {
		hosts := map[bool]map[simweb.Tool]bool{false: {}, true: {}}
		for i := range m.Hosts() {
			h := m.HostAt(i)
			hosts[h.IsDrawn][h.Tool] = true
		}
		return len(hosts[true]) == int(simweb.ToolCount)-1 && len(hosts[false]) == int(simweb.ToolCount)
	})
}

// namedForBrowser are the URLs that each part of an archive names, in order.
func namedForBrowser(t *testing.T, disk vfs.FS) map[string][]string {
	t.Helper()
	named := map[string][]string{"feed": renderList(t, disk), "records": nil, "index": nil}
	testbed.EachRecord(t, disk, func(rec *warc.RecordRead) {
		if rec.Get(warc.RenderField) != "" {
			named["records"] = append(named["records"], string(rec.TargetURI))
		}
	})
	files, err := warc.Files(disk, "crawl/warc")
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range files {
		text, err := vfs.ReadFile(disk, "crawl/warc/"+info.Index())
		if err != nil {
			t.Fatal(err)
		}
		for text := range strings.Lines(string(text)) {
			if line, err := cdxj.ParseLine([]byte(text)); err != nil {
				t.Errorf("%s: %v", text, err)
			} else if line.Render {
				named["index"] = append(named["index"], string(line.URL))
			}
		}
	}
	for _, urls := range named {
		slices.Sort(urls)
	}
	return named
}

// renderList is what `orbweaver feed --render --render-most 0` prints.
func renderList(t *testing.T, disk vfs.FS) []string {
	t.Helper()
	end, err := feed.EndOf(disk, "crawl")
	if err != nil {
		t.Fatal(err)
	}
	archive := lookup.NewFiles(lookup.Options{FS: disk, Dirs: []string{"crawl/warc"}})
	f := feed.New(feed.Options{
		Archive: archive, Growth: feed.Still{End: end}, Log: feed.CrawlLog{FS: disk, Dir: "crawl"},
		FS: disk, Dir: "crawl/frontier/feed",
	})
	var out strings.Builder
	list := feed.RenderList{Out: &out}
	_, err = f.Read(t.Context(), feed.Query{}, list.Add)
	if err := errors.Join(err, list.Flush(), f.Close(), archive.Close()); err != nil {
		t.Fatal(err)
	}
	return strings.Fields(out.String())
}

// Records, index, feed and expressions name the pages that a browser must draw, and no others. A rebuild changes
// nothing.
func TestDrawn_pagesThatNeedABrowserAreNamed(t *testing.T) {
	for name, kind := range map[string]simweb.Config{"plain": simweb.Plain(), "faulty": simweb.Faulty()} {
		pagesOfHost := 8
		if name == "plain" {
			pagesOfHost = testbed.Reduce(60, 8)
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig := testbed.MustRig(t, drawnWorld(t, kind, pagesOfHost), false)
				cfg := rig.Config()
				cfg.Filters.Stats = []string{"drawn=needs_render"}
				r := rig.MustCrawl(t, cfg, rig.FS)
				testbed.CheckConservation(t, r)
				v := testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
				t.Logf("%d of %d pages are drawn", v.Drawn.Named, v.Fetched)
				if v.Coverage != 1 || v.Drawn.Named < 30 || v.Drawn.Missed+v.Drawn.Wrong > 0 {
					v.Print(t.Output())
					t.Error("the archive does not name the pages that a browser must draw")
				}
				if n := r.Stats["drawn"]; n != float64(v.Drawn.Named) {
					t.Errorf("--stat counts %v pages, want %d", n, v.Drawn.Named)
				}
				checkNamed(t, rig)
				testbed.Rebuild(t, rig, cfg, rig.FS)
				checkNamed(t, rig)
			})
		})
	}
}

// checkNamed checks that each part of the archive names each page that the judge expects, once.
func checkNamed(t *testing.T, rig *testbed.Rig) {
	t.Helper()
	var want []string
	for url, class := range rig.World.Expected(judge.ExpectOptions{Seeds: rig.Seeds}).All() {
		if at, _ := rig.World.Find(url); class == judge.ClassPage && rig.World.NeedsBrowser(at) {
			want = append(want, url)
		}
	}
	slices.Sort(want)
	for part, got := range namedForBrowser(t, rig.FS) {
		if !slices.Equal(got, want) {
			t.Errorf("the %s names %d pages, want %d", part, len(got), len(want))
		}
	}
}
