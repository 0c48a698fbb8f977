package invitro

import (
	"testing"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/internal/vfs"
)

// rebuild makes the frontier again and fails the test unless it is sound.
func rebuild(t *testing.T, rig *Rig, cfg engine.Config, fsys *vfs.Mem) *engine.Rebuilt {
	t.Helper()
	r, err := engine.Rebuild(t.Context(), cfg, rig.Seams(fsys), engine.RebuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	found := examine(t, fsys)
	if !found.Sound() || found.State != "stopped" || !found.Clean {
		found.Print(t.Output())
		r.Print(t.Output())
		t.Fatal("not sound after a rebuild")
	}
	return r
}

// goOn resumes the crawl to its end and lets the oracle judge it all. again is how many requests may have been repeated.
func goOn(t *testing.T, rig *Rig, cfg engine.Config, fsys *vfs.Mem, again int) engine.Report {
	t.Helper()
	report, err := rig.Crawl(t.Context(), cfg, fsys)
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	p := promise(cfg)
	p.Resumed = true
	v, err := rig.Judge(p, fsys)
	if err != nil {
		t.Fatal(err)
	}
	checkBalance(t, report)
	repeated := v.Repeated
	v.Repeated, v.Overlap = 0, 0
	if !v.Sound() || repeated > again || report.State != engine.StateFinished {
		v.Print(t.Output())
		t.Errorf("%d requests repeated, %d at most: %s %s %v", repeated, again, report.State, report.Reason, report.Outcomes)
	}
	r := look(t, fsys)
	wantSound(t, &r)
	return report
}

// broken is a crawl that died half-way.
type broken struct {
	rig  *Rig
	cfg  engine.Config
	disk *vfs.Mem
}

func dieHalfWay(t *testing.T, world simweb.Config, after time.Duration, death death) broken {
	t.Helper()
	rig, err := NewRig(world, true)
	if err != nil {
		t.Fatal(err)
	}
	cfg := fsckConfig(rig)
	cfg.StallWait = time.Hour
	disk, _ := kill(t, rig, cfg, rig.FS, after, death)
	return broken{rig, cfg, disk}
}

type captureCount struct{ pages, all int }

// captured counts the captures of each URL.
func captured(t *testing.T, fsys *vfs.Mem) map[string]captureCount {
	t.Helper()
	counts := map[string]captureCount{}
	err := Captures(fsys, "crawl/warc", func(c simweb.Capture) {
		n := counts[c.URL]
		if n.all++; c.Status == 200 {
			n.pages++
		}
		counts[c.URL] = n
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}
