package logreport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/vfs"
)

// Options say how reports are made.
type Options struct {
	Temp    vfs.FS // for what does not fit in memory
	TempDir string
	Memory  int // for each report, in bytes, about; default 32 MiB

	From crawllog.Position // where the log begins to count
}

// memoryDefault is the default of Options.Memory.
const memoryDefault = 32 << 20

// Reports are reports of a crawl.
type Reports struct {
	fsys    vfs.FS
	dir     string
	o       Options
	tallies map[Kind]*tally
	walled  map[string]inspect.Walled // by host; of the report Walls

	DamagedLines int64 // of the log: they are not in the reports
}

// Make reads the log of the crawl in dir for some reports. The crawl may run. The caller must close the result.
func Make(ctx context.Context, fsys vfs.FS, dir string, kinds []Kind, o Options) (*Reports, error) {
	if o.Memory == 0 {
		o.Memory = memoryDefault
	}
	for {
		r := &Reports{fsys: fsys, dir: dir, o: o, tallies: map[Kind]*tally{}}
		err := r.read(ctx, kinds)
		if err == nil {
			err = r.readWalled()
		}
		if err == nil {
			return r, nil
		}
		err = errors.Join(err, r.Close())
		if !errors.Is(err, crawllog.ErrRotated) {
			return nil, err
		}
	}
}

// read adds all lines of the log up.
func (r *Reports) read(ctx context.Context, kinds []Kind) error {
	for _, k := range kinds {
		if d, ok := definitions[k]; ok {
			name := fmt.Sprintf("%s/%s.run", r.o.TempDir, k)
			r.tallies[k] = newTally(r.o.Temp, name, r.o.Memory, len(d.numbers))
		}
	}
	if len(r.tallies) == 0 {
		return nil
	}
	var key []byte
	var numbers []int64
	outcomes := outcomesByName()
	reading, err := crawllog.Read(ctx, r.fsys, r.dir+"/"+layout.LogsDir, r.o.From, func(l *crawllog.Line) error {
		facts := lineFacts{
			Line: l, final: l.IsFinal(), outcome: outcomes[string(l.Outcome)], bytes: max(l.Size, 0),
		}
		sign := int64(1)
		if l.IsRequeued() {
			facts.final, sign = true, -1
		}
		for k, t := range r.tallies {
			d := definitions[k]
			var counts bool
			if key, numbers, counts = d.add(&facts, key[:0], numbers[:0]); !counts {
				continue
			}
			for i := range numbers {
				numbers[i] *= sign
			}
			example := l.URL
			if !d.hasExample {
				example = nil
			}
			if err := t.add(key, numbers, example); err != nil {
				return err
			}
		}
		return nil
	})
	r.DamagedLines = reading.Damaged
	return err
}

// readWalled reads which hosts wait behind a wall, if there are walls.
func (r *Reports) readWalled() (err error) {
	if t := r.tallies[Walls]; t == nil || t.isEmpty() {
		return nil
	}
	if r.walled, err = inspect.WalledHosts(r.fsys, r.dir); err != nil {
		return fmt.Errorf("logreport: %w", err)
	}
	return nil
}

// appendWaiting appends how many URLs of a host wait behind a wall, and since when.
func (r *Reports) appendWaiting(columns []string, host string) []string {
	w, ok := r.walled[host]
	if !ok {
		return append(columns, "0", "-")
	}
	return append(columns, strconv.FormatUint(w.URLs, 10), w.FirstAt.UTC().Format(time.RFC3339))
}

// Each calls f with the rows of a report that Make was asked for. f borrows the row.
func (r *Reports) Each(ctx context.Context, k Kind, f func(row []string) error) error {
	if k == Seeds {
		return r.eachRow(ctx, f)
	}
	t, ok := r.tallies[k]
	if !ok {
		return fmt.Errorf("logreport: no report %q was made", k)
	}
	hasExample := definitions[k].hasExample
	var columns []string
	return t.each(func(row *row) error {
		if !slices.ContainsFunc(row.numbers, func(n int64) bool { return n != 0 }) {
			return nil // its outcomes were taken back
		}
		columns = append(columns[:0], strings.Split(row.key, "\t")...)
		for _, n := range row.numbers {
			columns = append(columns, strconv.FormatInt(n, 10))
		}
		if k == Walls {
			columns = r.appendWaiting(columns, columns[1])
		}
		if hasExample {
			columns = append(columns, row.example)
		}
		return f(columns)
	})
}

// Close removes temporary files.
func (r *Reports) Close() (err error) {
	for _, t := range r.tallies {
		err = errors.Join(err, t.close())
	}
	return err
}

// PassBegin returns where the lines of the last pass of the crawl in dir begin.
func PassBegin(fsys vfs.FS, dir string) (crawllog.Position, error) {
	m, err := manifest.Read(fsys, dir+"/"+layout.FrontierDir)
	if err != nil || m == nil || m.Log == nil {
		return crawllog.Position{}, err
	}
	return m.Log.Begin, nil
}

// Write writes all reports of a crawl into its directory for reports.
func Write(ctx context.Context, fsys vfs.FS, dir string, o Options) (err error) {
	place := dir + "/" + layout.ReportsDir
	o.Temp, o.TempDir = fsys, place
	if o.From, err = PassBegin(fsys, dir); err != nil {
		return err
	}
	r, err := Make(ctx, fsys, dir, Kinds(), o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := fsys.MkdirAll(place); err != nil {
		return fmt.Errorf("logreport: %w", err)
	}
	for _, k := range Kinds() {
		err := vfs.WriteAtomic(fsys, place+"/"+string(k)+".tsv", func(w io.Writer) error { return r.Print(ctx, w, k) })
		if err != nil {
			return fmt.Errorf("logreport: %s: %w", k, err)
		}
	}
	return nil
}

// Print writes a report in columns with tabs, and a line with their names before them.
func (r *Reports) Print(ctx context.Context, w io.Writer, k Kind) error {
	out := bufio.NewWriter(w)
	_, _ = out.WriteString(strings.Join(k.Columns(), "\t") + "\n") // bufio keeps the first error for Flush
	err := r.Each(ctx, k, func(row []string) error {
		_, err := out.WriteString(strings.Join(row, "\t") + "\n")
		return err
	})
	return errors.Join(err, out.Flush())
}
