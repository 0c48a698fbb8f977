package report

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

const file = "crawl/logs/progress.tsv"

// run records a crawl for some time, a page each second.
func run(t *testing.T, fsys vfs.FS, took time.Duration) {
	t.Helper()
	began := time.Now()
	r := &ProgressRecorder{
		FS: fsys, Dir: "crawl", Warn: func(msg string, _ ...any) { t.Error(msg) },
		Report: func() (c Report) {
			c.State, c.PagesStored, c.Waiting = lifecycle.Running, int64(time.Since(began)/time.Second), "a\tsite"
			c.Stats = map[string]float64{"b": 2.5, "a": 3e9}
			c.Outcomes = map[string]int64{"ok": 5, "refused": 2, "robots-denied": 1}
			return c
		},
	}
	ctx, cancel := context.WithTimeout(t.Context(), took)
	defer cancel()
	if err := r.Run(ctx); err != nil {
		t.Fatal(err)
	}
}

// A line every 20 s, one at the begin and one at the end of each run; a restart continues the file.
func TestRecorder_writesALineEvery20Seconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := vfstest.WithDir(t, "crawl/logs")
		run(t, fsys, 50*time.Second)
		run(t, fsys, 10*time.Second)
		lines := strings.Split(strings.TrimSuffix(string(vfstest.ReadAll(t, fsys, file)), "\n"), "\n")
		if len(lines) != 7 || lines[0]+"\n" != columns {
			t.Fatalf("%d lines: %q", len(lines), lines)
		}
		var times []string
		for _, line := range lines[1:] {
			f := strings.Split(line, "\t")
			if len(f) != strings.Count(columns, "\t")+1 || f[1] != "running" || f[9] != "2" || f[13] != "a site" ||
				f[14] != "a=3000000000 b=2.5" {
				t.Errorf("%q", f)
			}
			times = append(times, f[0][14:19]+" "+f[3])
		}
		if got := strings.Join(times, ", "); got != "00:00 0.0, 00:20 1.0, 00:40 1.0, 00:50 1.0, 00:50 0.0, 01:00 1.0" {
			t.Error(got)
		}
	})
}

// A kill may leave a part of a line. The next line does not continue it.
func TestRecorder_beginsALineAfterATornOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := vfstest.WithDir(t, "crawl/logs")
		vfstest.WriteAll(t, fsys, file, []byte(columns+"2000-01-01T00"))
		run(t, fsys, time.Second)
		if lines := strings.Split(string(vfstest.ReadAll(t, fsys, file)), "\n"); len(lines) != 5 ||
			lines[1] != "2000-01-01T00" || !strings.HasPrefix(lines[2], "2000-01-01T00:00:00Z\trunning") {
			t.Errorf("%q", lines)
		}
	})
}

// The file of an earlier version has fewer columns. It is kept beside the new one.
func TestRecorder_keepsTheFileOfAnEarlierVersion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := vfstest.WithDir(t, "crawl/logs")
		const earlier = "time\tstate\tpages\n2000\trunning\t1\n"
		vfstest.WriteAll(t, fsys, file, []byte(earlier))
		run(t, fsys, time.Second)
		if got := string(vfstest.ReadAll(t, fsys, file)); strings.Count(got, "\n") != 3 || !strings.HasPrefix(got, columns) {
			t.Errorf("%q", got)
		}
		if got := string(vfstest.ReadAll(t, fsys, file+".1")); got != earlier {
			t.Errorf("the earlier file is %q", got)
		}
	})
}

// The file has a size limit: it becomes progress.tsv.1, which replaces the one before it.
func TestRecorder_rotatesItsFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := vfstest.WithDir(t, "crawl/logs")
		vfstest.WriteAll(t, fsys, file+".1", []byte("older"))
		vfstest.WriteAll(t, fsys, file, []byte(columns+strings.Repeat("\n", rotateSize-len(columns))))
		run(t, fsys, time.Second)
		size, err := fsys.Size(file + ".1")
		if text := string(vfstest.ReadAll(t, fsys, file)); err != nil || size != rotateSize ||
			!strings.HasPrefix(text, columns) {
			t.Errorf("%d bytes rotated, %v: %q", size, err, text)
		}
	})
}

// A disk that takes no line is reported once, and the crawl goes on.
func TestRecorder_goesOnWithoutADisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := vfstest.WithDir(t, "crawl/logs")
		fsys.SetLimit(0)
		warnings := 0
		r := &ProgressRecorder{
			FS: fsys, Dir: "crawl", Warn: func(string, ...any) { warnings++ },
			Report: func() Report { return Report{} },
		}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		if err := r.Run(ctx); err != nil || warnings != 1 {
			t.Errorf("%v, %d warnings", err, warnings)
		}
	})
}
