package testbed

import (
	"testing"
	"time"

	"orbweaver/engine"
	"orbweaver/engine/durable/rebuild"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
)

// Rebuild rebuilds the frontier from the archive, and fails the test unless fsck finds it sound. with are directories
// of other archives.
func Rebuild(t *testing.T, rig *Rig, cfg engine.Config, fsys *vfs.Mem, with ...string) *rebuild.Result {
	t.Helper()
	r, err := engine.Rebuild(t.Context(), cfg, rig.Seams(fsys), rebuild.Options{With: with})
	if err != nil {
		t.Fatal(err)
	}
	found := FsckReadOnly(t, fsys)
	if !found.Sound() || found.State != "stopped" || !found.Clean {
		found.Print(t.Output())
		r.Print(t.Output())
		t.Fatal("not sound after a rebuild")
	}
	return r
}

// ResumeToEnd resumes the crawl to its end and judges the whole crawl. again is how many requests may be repeated.
func ResumeToEnd(t *testing.T, rig *Rig, cfg engine.Config, fsys *vfs.Mem, again int) report.Report {
	t.Helper()
	report, err := rig.Crawl(t.Context(), cfg, fsys)
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	p := Promise(cfg)
	p.Resumed = true
	v, err := rig.Judge(p, fsys)
	if err != nil {
		t.Fatal(err)
	}
	CheckConservation(t, report)
	repeated := v.Repeated
	v.Repeated, v.Overlap = 0, 0
	if !v.Sound() || repeated > again || report.State != lifecycle.Finished {
		v.Print(t.Output())
		t.Errorf("%d requests repeated, %d at most: %s %s %v", repeated, again, report.State, report.Reason, report.Outcomes)
	}
	r := Fsck(t, fsys)
	WantSound(t, &r)
	return report
}

// KilledCrawl is a crawl that was killed half-way.
type KilledCrawl struct {
	Rig  *Rig
	Cfg  engine.Config
	Disk *vfs.Mem
}

// KillHalfWay crawls for a time and kills the crawl.
func KillHalfWay(t *testing.T, world simweb.Config, after time.Duration, death Death) KilledCrawl {
	t.Helper()
	rig, err := NewRig(world, true)
	if err != nil {
		t.Fatal(err)
	}
	cfg := FsckConfig(rig)
	cfg.Limits.StallWait = time.Hour
	disk, _ := Kill(t, rig, cfg, rig.FS, after, death)
	return KilledCrawl{rig, cfg, disk}
}

type captureCount struct{ Pages, All int }

// CountCaptures counts the captures of each URL.
func CountCaptures(t *testing.T, fsys *vfs.Mem) map[string]captureCount {
	t.Helper()
	counts := map[string]captureCount{}
	err := captures.Each(fsys, "crawl/warc", func(c judge.Capture) {
		n := counts[c.URL]
		if n.All++; c.Status == 200 {
			n.Pages++
		}
		counts[c.URL] = n
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

// Kill runs a crawl for a time, and then takes the disk as SIGKILL leaves it at that instant, with some writes half
// done. What the crawl does afterwards reaches neither the disk nor the web.
func Kill(
	t *testing.T, rig *Rig, cfg engine.Config, fsys *vfs.Mem, after time.Duration, death Death,
) (clone *vfs.Mem, ended bool) {
	t.Helper()
	e, err := engine.Open(cfg, rig.Seams(fsys))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- e.Run(t.Context()) }()
	timer := time.NewTimer(after)
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
		ended = true
	case <-timer.C:
	}
	clone = death(fsys)
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	if !ended {
		e.Abort()
		if err := <-done; err != nil {
			t.Logf("the killed crawl ended with: %v", err)
		}
	}
	_ = e.Close()
	rig.Connect()
	return clone, ended
}

// Death makes the disk as it is after a crash.
type Death func(*vfs.Mem) *vfs.Mem

// Sigkill is the Death of a process.
func Sigkill(disk *vfs.Mem) *vfs.Mem { return disk.KillClone() }

// WithSmallFiles makes the crawl begin a new WARC file after 64 KiB.
func (b *KilledCrawl) WithSmallFiles() { b.Cfg.Archive.SizeMax = 1 << 16 }
