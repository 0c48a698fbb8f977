package golden_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/workers/archive"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/golden"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

// directory is a golden crawl directory.
type directory struct {
	name     string // of the file; the number is that of the manifest's format
	sum      string // SHA-256
	world    simweb.Config
	proxy    bool
	calendar bool // the calendar is there, and is a seed
	config   func(c *engine.Config)
	end      ending
}

// ending is how a crawl came to be as it is in its directory.
type ending struct {
	when func(r *report.Report) bool // it stopped as soon as its report was so; nil: it came to its end
	kill bool                        // by SIGKILL, in place of an orderly stop
}

// leavesOut says that URLs were left out, while hosts are on disk.
func leavesOut(r *report.Report) bool { return r.Outcomes["novelty"] > 0 && r.HostsCold > 0 }

// pagesStored says that so many pages are stored.
func pagesStored(n int64) func(*report.Report) bool {
	return func(r *report.Report) bool { return r.PagesStored >= n }
}

// The files of a golden directory beside the crawl.
const (
	logFile        = "server.log" // of the web server
	noteFile       = "note.json"
	dictionaryFile = "dictionary"
)

// note is what the maker of a directory knew of it.
type note struct {
	Stopped  time.Time `json:"stopped"`  // when the crawl stopped
	Expected int       `json:"expected"` // pages of the web: the simulated web must be what it was
	Pages    int64     `json:"pages"`    // stored so far
	Revisits int64     `json:"revisits"`
	Queued   int64     `json:"queued"`
	Admitted int64     `json:"admitted"`
}

// all lists the directories.
func all() []directory {
	return []directory{stopped(), killed(), finished()}
}

// small is a world of a few hosts with most faults. A huge body would make the files large.
func small(seed uint64) simweb.Config {
	c := simweb.Faulty()
	c.Seed, c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean = seed, 20, 7, 8, 30, 300
	c.Faults.Huge, c.Robots.Huge, c.CopyShare = 0, 0, 0.4
	c.OwnWords = false // the web of these crawls had none
	return c
}

// stopped is a crawl that was stopped in good order. It has queued URLs in memory and on disk, delayed URLs, a list of
// URLs left out, hosts on disk, revisits, and sites that answer 503 and ask for time.
func stopped() directory {
	world := small(7101)
	world.Hosts, world.IPs, world.PagesPerHostMean, world.PagesPerHostMax = 100, 30, 2, 60
	world.PageFanout, world.HostFanout, world.LinksMean, world.PageBytesMean, world.CopyShare = 4, 3, 5, 300, 0.8
	world.Faults.Stall, world.Faults.StallMid, world.Faults.Slow, world.Robots.Slow = 0, 0, 0, 0
	world.Faults.Unavailable, world.Timing.RetryAfter = 0.05, 200*time.Second
	world.Robots.CrawlDelay, world.Timing.CrawlDelay = 0.2, 4*time.Second
	return directory{
		name: "crawl-7-stopped-zstd.tar.zst", sum: "6aba6e155cf12e4837aac5a839a2bf1d3b770b39e850d996f8e394f40c19be79",
		world: world, proxy: true, calendar: true, end: ending{when: leavesOut},
		config: func(c *engine.Config) {
			c.Archive.Compression, c.Traps.TrapFloor = warc.Zstd, 16
			c.Workbench.MemoryMax, c.Workers.Fetchers, c.Intervals.Checkpoint = 16<<10, 3, 2*time.Second
			c.Politeness.HostDelay, c.Politeness.IPDelay = 100*time.Millisecond, 5*time.Millisecond
			c.Cold.SegmentBytes, c.Cold.BufferBytes, c.Workers.SiteItems = 4<<10, 1<<10, 4
		},
	}
}

// killed is a crawl that was killed: its journal must be replayed. It asks name servers itself, and stores all that can
// be stored.
func killed() directory {
	world := small(7102)
	world.Faults.Stall = 0.1 // an answer that never comes is under way at the kill
	return directory{
		name: "crawl-7-killed-none.tar.zst", sum: "a6552c8a4dc8405c40cf948d40055b5328b38f8915d8c6d3fc102d97f907cd6e",
		world: world, end: ending{when: pagesStored(45), kill: true},
		config: func(c *engine.Config) {
			c.Archive.Compression, c.Intervals.Checkpoint = warc.None, 2*time.Second
			c.Archive.Metadata, c.Archive.Via = parsers.MetadataAll, true
			c.Archive.Outlinks, c.Archive.DNS = true, archive.DNSAll
		},
	}
}

// finished is a crawl that came to its end. Its web tells when pages change, so that a new pass can ask on condition.
func finished() directory {
	world := small(7103)
	world.Validators, world.Changing = 0.8, 0.3
	return directory{
		name: "crawl-7-finished-gzip.tar.zst", sum: "383dbd3b9fd0cc51dd804ee4c76ae80e284eff806d3a92c19b638beba37388bc",
		world: world, proxy: true,
		config: func(c *engine.Config) { c.Archive.Compression = warc.Gzip },
	}
}

// crawl is a crawl that can be opened.
type crawl struct {
	rig      *testbed.Rig
	cfg      engine.Config
	disk     *vfs.Mem
	calendar *calendar // nil if it is not there
	note     note
}

// build makes the web of a directory, and the configuration of the crawl.
func (d *directory) build(t *testing.T, disk *vfs.Mem) *crawl {
	t.Helper()
	rig, err := testbed.NewRig(d.world, d.proxy)
	if err != nil {
		t.Fatal(err)
	}
	c := &crawl{rig: rig, disk: disk}
	if d.calendar {
		c.calendar = newCalendar()
		rig.World.Invite(c.calendar)
		rig.Seeds = append(rig.Seeds, c.calendar.seeds()...)
	}
	c.cfg = rig.Config()
	c.cfg.Archive.SizeMax = 1 << 17
	c.cfg.Sieve.BucketBytes = 1 << 16
	c.cfg.Admission.CacheMemory = 1 << 16
	c.cfg.Seen.MemoryBytes = 1 << 14
	c.cfg.Ready.SegmentBytes, c.cfg.Queues.SegmentBytes, c.cfg.Archive.JournalReserve = 1<<14, 1<<14, 1<<14
	c.cfg.Limits.StallWait = 10 * time.Hour
	d.config(&c.cfg)
	return c
}

// open unpacks a directory, and moves the clock to the time at which its crawl stopped. The web remembers what it was
// asked.
func (d *directory) open(t *testing.T) *crawl {
	t.Helper()
	disk := unpack(t, golden.Read(t, d.name, d.sum))
	c := d.build(t, disk)
	b, err := vfs.ReadFile(disk, noteFile)
	if err == nil {
		err = json.Unmarshal(b, &c.note)
	}
	if err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Until(c.note.Stopped))
	if b, err = vfs.ReadFile(disk, logFile); err != nil {
		t.Fatal(err)
	}
	if c.rig.Log, err = c.rig.World.ReadLog(bytes.NewReader(b)); err != nil {
		t.Fatal(err)
	}
	if c.cfg.Archive.Compression == warc.Zstd {
		if c.cfg.Archive.Dictionary, err = vfs.ReadFile(disk, dictionaryFile); err != nil {
			t.Fatal(err)
		}
	}
	c.remember(t)
	return c
}

// remember makes a web that has been asked before what the log tells.
func (c *crawl) remember(t *testing.T) {
	t.Helper()
	if err := c.rig.Net.Close(); err != nil {
		t.Error(err)
	}
	c.rig.World = c.rig.World.Again(c.rig.Log)
	if c.calendar != nil {
		c.rig.World.Invite(c.calendar)
		c.calendar.remember(c.rig.Log)
	}
	c.rig.Connect()
}

// make runs the crawl of a directory up to its ending, and packs it.
func (d *directory) make(t *testing.T) []byte {
	t.Helper()
	c := d.build(t, vfs.NewMem(1))
	if c.cfg.Archive.Compression == warc.Zstd {
		c.cfg.Archive.Dictionary = d.dictionary(t)
		if err := writeFile(c.disk, dictionaryFile, bytes.NewReader(c.cfg.Archive.Dictionary)); err != nil {
			t.Fatal(err)
		}
	}
	report := c.runFor(t, d.end)
	v := c.rig.World.Expected(judge.ExpectOptions{Seeds: c.rig.Seeds})
	c.note = note{
		Stopped:  time.Now().Add(time.Second),
		Expected: v.Pages(),
		Pages:    report.PagesStored,
		Revisits: report.RevisitsStored,
		Queued:   report.URLsQueued,
		Admitted: report.URLsAdmitted,
	}
	b, err := json.MarshalIndent(c.note, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	if _, err := c.rig.Log.Write(&log, 0); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(writeFile(c.disk, noteFile, bytes.NewReader(b)), writeFile(c.disk, logFile, &log)); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %+v", d.name, report)
	return pack(t, c.disk)
}

// dictionary trains a dictionary from a crawl of the same web.
func (d *directory) dictionary(t *testing.T) []byte {
	t.Helper()
	c := d.build(t, vfs.NewMem(1))
	c.cfg.Archive.Compression = warc.Gzip
	c.run(t)
	var samples [][]byte
	err := captures.Records(c.disk, "crawl/warc", func(rec *warc.RecordRead) error {
		b, err := rec.ReadBlock(1 << 20)
		samples = append(samples, bytes.Clone(b))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	words, err := member.TrainDictionary(samples, 4<<10)
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// run runs a crawl to its end, and gives its report.
func (c *crawl) run(t *testing.T) report.Report { return c.runFor(t, ending{}) }

// runFor runs a crawl up to an ending. What a killed crawl does after that moment reaches neither the disk nor the web.
func (c *crawl) runFor(t *testing.T, end ending) report.Report {
	t.Helper()
	e, err := engine.Open(c.cfg, c.rig.Seams(c.disk))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	if end.when != nil && waitFor(t, e, end.when, done) && end.kill {
		report := e.Report()
		c.disk = c.disk.KillClone()
		if err := c.rig.Net.Close(); err != nil {
			t.Error(err)
		}
		e.Abort()
		<-done // it was killed: what it returns does not matter
		_ = e.Close()
		return report
	}
	if end.when != nil {
		cancel()
	}
	err = <-done
	report := e.Report()
	if err := errors.Join(err, e.Close(), c.rig.Net.Close()); err != nil {
		t.Fatal(err)
	}
	return report
}

// waitFor waits until a report is as wanted, and fails the test if the crawl ends before.
func waitFor(t *testing.T, e *engine.Engine, when func(*report.Report) bool, done chan error) bool {
	t.Helper()
	for {
		select {
		case err := <-done:
			t.Fatalf("the crawl ended before: %v", err)
		case <-time.After(10 * time.Millisecond):
		}
		if r := e.Report(); when(&r) {
			return true
		}
	}
}
