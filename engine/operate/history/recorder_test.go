package history

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

// steady is a crawl that stores ten pages a second and whose queue grows or shrinks as steadily.
func steady(queued, growth int64) func() report.Report {
	began := time.Now()
	return func() report.Report {
		s := int64(time.Since(began).Seconds())
		return report.Report{
			State: lifecycle.Running, Reported: counters.Reported[int64]{PagesStored: 10 * s, Attempts: 12 * s, Retries: 2 * s},
			URLsQueued: queued + growth*s, CPUSeconds: float64(s) / 2,
		}
	}
}

// recording runs a Recorder for some virtual time.
func recording(t *testing.T, o Options, how time.Duration) *Recorder {
	t.Helper()
	r := Open(o)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); r.Run(ctx) }()
	time.Sleep(how + time.Millisecond)
	end()
	<-ended
	return r
}

// The rates are those of the last ten seconds, and each second has a sample.
func TestRecorder_knowsRates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := recording(t, Options{Report: steady(1000, -1)}, time.Minute)
		now := r.Now()
		if now.Rates != (Rates{Pages: 10, Attempts: 12, Retries: 2, CPU: 0.5, OfSeconds: 10}) || now.Memory <= 0 {
			t.Errorf("%+v", now.Rates)
		}
		if p := r.Query(30*time.Second, 100).Series["pages_per_second"]; len(p) != 31 || p[15] != 10 {
			t.Errorf("%v", p)
		}
	})
}

// All that is known of a crawl that has ended is what its samples are of, however long it rested between two runs.
func TestRecorder_allIsFromTheFirstSample(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys, begin := vfs.NewMem(1), time.Now()
		o := Options{FS: fsys, File: "history", Report: steady(1000, -1), Log: slog.New(slog.DiscardHandler)}
		recording(t, o, time.Minute)
		time.Sleep(20 * time.Minute)
		recording(t, o, time.Minute)
		o.Ended = time.Now()
		time.Sleep(48 * time.Hour)
		s := Open(o).QueryAll(100)
		from, to := time.Unix(s.From, 0), time.Unix(s.From+s.Step*int64(len(s.Series["urls_queued"])-1), 0)
		off := max(from.Sub(begin).Abs(), to.Sub(o.Ended).Abs())
		if off > time.Minute {
			t.Errorf("from %v to %v, not from %v to %v", from, to, begin, o.Ended)
		}
		if s := Open(Options{Ended: o.Ended}).QueryAll(100); len(s.Series["urls_queued"]) == 0 {
			t.Errorf("of nothing: %+v", s)
		}
	})
}

// The end is where the queue is empty, if it goes on shrinking as it did.
func TestRecorder_estimatesTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			queued, growth int64
			how            time.Duration
			want           string
			seconds        float64
		}{
			{100, -1, 10 * time.Second, "no estimate yet: it needs 30 seconds", 0},
			{
				36_000 + 1200, -10, 2 * time.Minute,
				"the queue is empty in about 1 h 0 min, if it shrinks as in the last 30s", 3600,
			},
			{10, 100, time.Hour, "no end in sight: the queue grows by 6000 URLs a minute, over the last 10m0s", 0},
			{10, 0, time.Minute, "no end in sight: the queue is as long as 30s ago", 0},
			{0, 0, time.Minute, "the queue is empty", 0},
		} {
			end := recording(t, Options{Report: steady(c.queued, c.growth)}, c.how).Now().End
			if end.Sentence != c.want || int(end.Seconds) != int(c.seconds) {
				t.Errorf("%q, %v s", end.Sentence, end.Seconds)
			}
		}
		paused := func() report.Report { return report.Report{State: lifecycle.Paused, URLsQueued: 1} }
		end := recording(t, Options{Report: paused}, time.Minute).Now().End
		if end.Sentence != "no estimate: the crawl is paused" {
			t.Error(end.Sentence)
		}
	})
}

// A crawl that is stopped and goes on has the samples of before, and a gap.
func TestRecorder_keepsTheHistoryOverRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{FS: vfstest.WithDir(t, "d"), File: "d/history", Report: steady(1, 0)}
		recording(t, o, 2*time.Minute)
		time.Sleep(time.Minute)
		p := recording(t, o, time.Minute).Query(4*time.Minute, 300).Series["pages_per_second"]
		if p[10] != 10 || p[150] == p[150] || p[len(p)-5] != 10 {
			t.Errorf("%v", p)
		}
	})
}

// A file that is damaged, or that cannot be written, is told once. The crawl does not depend on it.
func TestRecorder_faultsOfTheFileAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfstest.WithDir(t, "d")
		if err := vfs.WriteAtomic(disk, "d/history", func(w io.Writer) error {
			_, err := w.Write([]byte("OWHIST01 and no more"))
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		o := Options{
			FS: noCreate{disk}, File: "d/history", Report: steady(1, 0), Log: slog.New(slog.NewTextHandler(&said, nil)),
		}
		r := recording(t, o, time.Minute)
		if n := strings.Count(said.String(), "cannot be read"); n != 1 || r.Now().Rates.Pages != 10 {
			t.Errorf("%s", said.String())
		}
		if n := strings.Count(said.String(), "cannot be written"); n != 1 {
			t.Errorf("%s", said.String())
		}
	})
}

// noCreate is a disk on which no file can be made.
type noCreate struct{ vfs.FS }

func (noCreate) Create(string) (vfs.File, error) { return nil, errors.New("no") }
