package report

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/outcome"
	"orbweaver/internal/throttle"
	"orbweaver/internal/vfs"
)

// ProgressFile is the name of the file in the directory of logs.
const ProgressFile = "progress.tsv"

const (
	interval   = 20 * time.Second
	rotateSize = 8 << 20 // bytes
)

// columns are the names in the first line.
const columns = "time\tstate\tpages\tpages_per_second\tbytes_received\tbytes_stored\turls_queued\thosts\tactive\t" +
	"errors\tretries\tmemory\tdisk_free\twaiting\tstats\n"

// ProgressRecorder writes the file.
type ProgressRecorder struct {
	FS     vfs.FS
	Dir    string // of the crawl
	Report func() Report
	Warn   func(msg string, args ...any)

	pages    int64 // at the last line
	at       time.Time
	fails    bool // the last line was not written: said once
	warnings throttle.Log
}

// Run writes a line now, every 20 s, and when ctx ends. The error is always nil.
func (r *ProgressRecorder) Run(ctx context.Context) error {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		r.record(time.Now())
		select {
		case <-tick.C:
		case <-ctx.Done():
			r.record(time.Now())
			return nil
		}
	}
}

func (r *ProgressRecorder) record(now time.Time) {
	err := r.append(r.line(now, r.Report()))
	if err != nil && !r.fails {
		if n, ok := r.warnings.Allow(now); ok {
			r.Warn("lines of progress.tsv cannot be written; the crawl goes on", "error", err, "times", n)
		}
	}
	r.fails = err != nil
}

// line makes a line. The rate is that since the last line of this run.
func (r *ProgressRecorder) line(now time.Time, c Report) string {
	pages := c.PagesStored + c.RevisitsStored + c.PagesUnchanged + c.PagesNotStored
	rate := 0.0
	if took := now.Sub(r.at); !r.at.IsZero() && took > 0 {
		rate = float64(pages-r.pages) / took.Seconds()
	}
	r.pages, r.at = pages, now
	free, err := r.FS.Free(r.Dir)
	if err != nil {
		free = -1 // unknown
	}
	return fmt.Sprintf("%s\t%s\t%d\t%.1f\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%s\t%s\n",
		now.UTC().Format("2006-01-02T15:04:05Z"), c.State, pages, rate, c.BytesReceived, c.BytesStored, c.URLsQueued,
		c.HostsKnown, c.ActiveFetches, failed(&c), c.Retries, memory(), free,
		strings.NewReplacer("\t", " ", "\n", " ").Replace(c.Waiting), c.StatsLine())
}

// StatsLine is the numbers of the user, as NAME=NUMBER in the order of the names, with spaces between.
func (r *Report) StatsLine() string {
	list := make([]string, 0, len(r.Stats))
	for _, name := range slices.Sorted(maps.Keys(r.Stats)) {
		format := byte('f')
		if math.Abs(r.Stats[name]) >= 1e21 { // as in JSON
			format = 'e'
		}
		list = append(list, name+"="+strconv.FormatFloat(r.Stats[name], format, -1, 64))
	}
	return strings.Join(list, " ")
}

// failed is the number of URLs whose last attempt failed.
func failed(c *Report) (n int64) {
	for o := range outcome.Count {
		switch o := outcome.Outcome(o); o.Class() {
		case outcome.ClassFault, outcome.ClassHost, outcome.ClassBusy:
			n += c.Outcomes[o.String()]
		default:
		}
	}
	return n
}

// memory is what the program holds of the system's memory, in bytes, without what it has only mapped.
func memory() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}

// isOther reports whether the file of an earlier version has other columns.
func (r *ProgressRecorder) isOther(name string) bool {
	f, err := r.FS.Open(name)
	if err != nil {
		return false
	}
	head := make([]byte, len(columns))
	n, err := f.ReadAt(head, 0)
	if err := errors.Join(err, f.Close()); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	return n > 0 && string(head[:n]) != columns[:n]
}

// append appends a line to the file. A file that is new, or has just been rotated, begins with the names of the
// columns. A file with other columns is rotated, too.
func (r *ProgressRecorder) append(line string) (err error) {
	name := r.Dir + "/" + layout.LogsDir + "/" + ProgressFile
	if size, err := r.FS.Size(name); err == nil && (size >= rotateSize || r.isOther(name)) {
		if err := r.FS.Rename(name, name+".1"); err != nil {
			return err
		}
	}
	f, err := r.FS.OpenRW(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size, err := f.Size()
	if err != nil {
		return err
	}
	if size == 0 {
		line = columns + line
	} else if last := []byte{0}; size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return err
		}
		if last[0] != '\n' { // a kill or a full disk has left a part of a line
			line = "\n" + line
		}
	}
	_, err = f.WriteAt([]byte(line), size)
	return err
}
