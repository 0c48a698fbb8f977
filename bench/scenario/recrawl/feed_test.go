//go:build scenario

package recrawl

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/feed"
	"orbweaver/internal/simweb"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/lookup"
)

// reader is a client of the change feed that keeps its cursor.
type reader struct {
	t      *testing.T
	cursor feed.Cursor
	told   []string
}

// read reads what there is. It fails after some lines, as a client that is killed, and comes again.
func (r *reader) read(f *feed.Feed, wait time.Duration) {
	errKilled := errors.New("killed")
	for more := true; more; {
		n := 0
		q := feed.Query{Begin: r.cursor, Unchanged: true, Wait: wait}
		next, err := f.Read(r.t.Context(), q, func(c *feed.Change) error {
			if n++; n > 40 {
				return errKilled
			}
			r.told = append(r.told, fmt.Sprintf("%s %s", c.Kind, c.URL))
			cursor, err := feed.ParseCursor(c.Cursor)
			r.cursor = cursor
			return err
		})
		if more = errors.Is(err, errKilled); more {
			continue
		}
		if err != nil {
			r.t.Fatal(err)
		}
		r.cursor = next
	}
}

// readFiles reads the feed of a crawl that does not run.
func (r *reader) readFiles(fsys vfs.FS) {
	r.t.Helper()
	end, err := feed.EndOf(fsys, "crawl")
	if err != nil {
		r.t.Fatal(err)
	}
	f := feed.New(feed.Options{
		Archive: lookup.NewFiles(lookup.Options{FS: fsys, Dirs: []string{"crawl/warc"}}), Growth: feed.Still{End: end},
		Log: feed.CrawlLog{FS: fsys, Dir: "crawl"},
		FS:  fsys, Dir: "crawl/frontier/feed",
	})
	r.read(f, 0)
	if err := f.Close(); err != nil {
		r.t.Error(err)
	}
}

// follow runs the crawl to its end, and reads its feed meanwhile.
func (r *reader) follow(rig *testbed.Rig, cfg engine.Config, fsys *vfs.Mem) {
	r.t.Helper()
	e, err := engine.Open(cfg, rig.Seams(fsys))
	if err != nil {
		r.t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- e.Run(r.t.Context()) }()
	for running := true; running; {
		select {
		case err = <-done:
			running = false
		default:
			r.read(e.Operator().Feed, time.Second)
		}
	}
	if err = errors.Join(err, e.Close(), rig.Net.Close()); err != nil {
		r.t.Fatal(err)
	}
	r.readFiles(fsys)
}

// changesOf is what the archive says, record by record.
func changesOf(t *testing.T, fsys *vfs.Mem) (lines []string) {
	t.Helper()
	last := map[string]string{}
	testbed.EachRecordAt(t, fsys, func(rec *warc.RecordRead, _ warc.Checkpoint) {
		if rec.Type != warc.Response && rec.Type != warc.Revisit || !bytes.HasPrefix(rec.TargetURI, []byte("http")) {
			return
		}
		status := captures.Status(rec.Block)
		if status == 304 {
			status = 200
		}
		url := string(rec.TargetURI)
		before := last[url]
		now := fmt.Sprint(status, rec.Get("WARC-Payload-Digest"))
		if rec.PayloadDigest == nil {
			now = fmt.Sprint("only this ", len(lines))
		}
		kind := feed.Changed
		switch {
		case status == 404 || status == 410:
			if last[url] = ""; before == "" {
				return
			}
			lines = append(lines, fmt.Sprintf("%s %s", feed.Gone, url))
			return
		case status < 200 || status >= 400:
			return
		case before == "":
			kind = feed.Fresh
		case before == now:
			kind = feed.Unchanged
		}
		last[url] = now
		lines = append(lines, fmt.Sprintf("%s %s", kind, url))
	})
	return lines
}

// A crawl is killed, goes on to its end, and is refreshed twice on a web that changes. A client that reads its feed all
// the time, of the running crawl and of its files, is told each change once.
func TestFeed_tellsEachChangeOnceOverAKillAndARefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(*testbed.FirstSeed+866, simweb.Faulty())
		world.CopyShare, world.Validators, world.Changing = 0.3, 0.8, 0.4
		killed := testbed.KillHalfWay(t, world, 20*time.Second, testbed.Sigkill)
		killed.WithSmallFiles()
		r := &reader{t: t}
		r.readFiles(killed.Disk)
		half := len(r.told)
		disk := killed.Disk
		r.follow(killed.Rig, killed.Cfg, disk)
		whole := len(r.told)
		cfg := killed.Cfg
		cfg.Seeds, cfg.Refresh = nil, true
		for edition := 1; edition <= 2; edition++ {
			c := killed.Rig.World.Config()
			c.Edition = edition
			rig := testbed.MustRig(t, c, true)
			rig.FS = disk
			r.follow(rig, cfg, disk)
		}
		want := changesOf(t, disk)
		if !slices.Equal(r.told, want) {
			t.Fatalf("%d lines, want %d\n got %q\nwant %q", len(r.told), len(want), r.told, want)
		}
		counts := map[string]int{}
		for _, line := range r.told {
			kind, _, _ := bytes.Cut([]byte(line), []byte(" "))
			counts[string(kind)]++
		}
		t.Log(half, whole, counts)
		if half == 0 || half == whole || counts["changed"] == 0 || counts["unchanged"] == 0 {
			t.Errorf("%d half-way, %d at the end, then %v", half, whole, counts)
		}
		found := testbed.Fsck(t, disk)
		testbed.WantSound(t, &found)
	})
}
