package derive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Run makes the products of all WARC files in names: crawl directories, other directories, or files. Damage in inputs
// is in the Report. An error means that outputs are missing; the same Run then continues.
func Run(ctx context.Context, fsys vfs.FS, names []string, o Options) (*Report, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	files, unfinished, err := find(fsys, names, o.Crawl)
	if err != nil {
		return nil, err
	}
	if err := fsys.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("derive: %w", err)
	}
	lock, err := fsys.Lock(o.Dir + "/" + lockName)
	if errors.Is(err, vfs.ErrLocked) {
		return nil, fmt.Errorf("derive: another process writes to %s: %w", o.Dir, err)
	}
	if err != nil {
		return nil, fmt.Errorf("derive: %w", err)
	}
	r := &run{fsys: fsys, o: o, files: files, objects: make([]string, len(files)), done: make([][]marker, len(files))}
	r.report = Report{Files: len(files), Unfinished: unfinished, LeftOut: []LeftOut{}}
	r.progress.FilesOf = len(files)
	for i := range files {
		r.progress.BytesOf += files[i].Size
	}
	if err = r.findRemoved(); err == nil {
		err = r.readAll(ctx)
	}
	if err == nil {
		err = r.finish(ctx)
	}
	slices.SortFunc(r.report.LeftOut, func(a, b LeftOut) int { return strings.Compare(a.File, b.File) })
	return &r.report, errors.Join(err, lock.Close())
}

// lockName is a file in the directory of outputs that keeps a second Run away.
const lockName = ".lock"

// run is one Run. mu guards progress, report and the calls of the options' functions.
type run struct {
	fsys  vfs.FS
	o     Options
	files []Source
	// objects has the object of each file that was removed here.
	objects []string
	done    [][]marker // of each file, of each product; zero for outputs that are not complete

	mu       sync.Mutex
	progress Progress
	report   Report
}

// readAll reads all files by workers. The first error ends all of them.
func (r *run) readAll(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next := make(chan int)
	var turn sync.Mutex
	var workers sync.WaitGroup
	var faults []error
	for range min(r.o.Workers, len(r.files)) {
		workers.Go(func() {
			m := newMemory(r.needs(), r.o.NewLanguageDetector(), &turn)
			for i := range next {
				if err := r.readFile(ctx, m, i); err != nil {
					r.mu.Lock()
					faults = append(faults, err)
					r.mu.Unlock()
					cancel()
				}
			}
		})
	}
	for i := range r.files {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	workers.Wait()
	if len(faults) > 0 {
		return faults[0] // the others are its consequence
	}
	return context.Cause(ctx)
}

// needs returns what any of the products reads.
func (r *run) needs() (all Needs) {
	for _, p := range r.o.Products {
		one := p.Needs()
		all.Bodies, all.Text, all.Details = all.Bodies || one.Bodies, all.Text || one.Text, all.Details || one.Details
	}
	return all
}

// readFile makes those products of a file that are not complete.
func (r *run) readFile(ctx context.Context, m *memory, number int) error {
	s := &r.files[number]
	r.done[number] = make([]marker, len(r.o.Products))
	p := pass{run: r, source: s, memory: m, isRemoved: r.objects[number] != ""}
	for i, product := range r.o.Products {
		mark, valid, err := readMarker(r.fsys, r.o.Dir, product, s)
		if err != nil {
			return err
		}
		if valid {
			r.done[number][i] = mark
			continue
		}
		if err := discard(r.fsys, r.o.Dir, product, s, &mark); err != nil {
			return err
		}
		p.products = append(p.products, i)
	}
	kept := len(p.products) == 0
	if !kept {
		err := p.make(ctx, r.done[number])
		if errors.Is(err, vfs.ErrElsewhere) && ctx.Err() == nil {
			r.leaveOut(number, &p, err)
			return nil
		}
		if unread := (*warc.Fault)(nil); errors.Is(err, warc.ErrUnread) && errors.As(err, &unread) {
			r.done[number] = make([]marker, len(r.o.Products)) // another run tries it again
			_ = p.damage(unread)
			err = nil
		}
		if err != nil {
			return err
		}
	}
	r.count(number, kept, &p)
	return nil
}

// count adds a complete file to the report.
func (r *run) count(number int, kept bool, p *pass) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.files[number]
	switch {
	case kept:
		r.report.Kept++
	case p.isRemoved:
		r.report.FromStore++
		r.report.StoreBytes += s.Size
		r.progress.StoreBytes += s.Size - p.position
	}
	if !kept {
		r.report.Bytes += s.Size
	}
	records, faults := int64(0), p.faults
	for _, mark := range r.done[number] {
		records, faults = max(records, mark.Records), max(faults, mark.Faults)
		r.report.Outputs += len(mark.Outputs)
		for _, out := range mark.Outputs {
			if !kept {
				r.report.Written += out.Bytes
			}
		}
	}
	r.report.Records += records
	r.report.Faults += faults
	r.progress.Files++
	r.progress.Bytes += s.Size - p.position
	r.o.OnProgress(r.progress)
}

// findRemoved finds the files that were removed here, and reports those that must be read.
func (r *run) findRemoved() error {
	var all Removed
	for i := range r.files {
		s := &r.files[i]
		if r.objects[i] = r.o.ObjectOf(s.Path); r.objects[i] == "" {
			continue
		}
		isDone := true
		for _, product := range r.o.Products {
			_, valid, err := readMarker(r.fsys, r.o.Dir, product, s)
			if err != nil {
				return err
			}
			isDone = isDone && valid
		}
		if isDone {
			continue
		}
		if all.Files++; all.Files == 1 {
			all.First = r.objects[i]
		}
		all.Bytes += s.Size
	}
	if all.Files > 0 {
		r.o.OnRemoved(all)
	}
	return nil
}

// leaveOut reports a file that was removed here and cannot be read.
func (r *run) leaveOut(number int, p *pass, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.files[number]
	r.report.LeftOut = append(r.report.LeftOut, LeftOut{s.Path, r.objects[number], s.Size, err.Error()})
	r.progress.Files++
	r.progress.Bytes += s.Size - p.position
	r.o.OnProgress(r.progress)
}

// finish lets each product combine its outputs.
func (r *run) finish(ctx context.Context) error {
	for i := range r.o.Products {
		if err := r.combine(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// combine lets one product combine its outputs, if they, or the files, are others than before.
func (r *run) combine(ctx context.Context, number int) (err error) {
	product := r.o.Products[number]
	step := func(what string) {
		r.progress.Combining = what
		r.o.OnProgress(r.progress)
	}
	step(product.Name())
	done := make([]Finished, 0, len(r.files))
	all := sha256.New()
	for i := range r.files {
		mark := &r.done[i][number]
		if mark.Input == "" {
			continue // left out
		}
		file := Finished{Source: r.files[i]}
		for _, out := range mark.Outputs {
			file.Outputs = append(file.Outputs, out.Name)
			fmt.Fprintf(all, "%s %d\n", out.Name, out.Bytes)
		}
		fmt.Fprintf(all, "%+v\n", r.files[i])
		done = append(done, file)
	}
	if len(done) == 0 && len(r.files) > 0 {
		return nil // nothing could be read
	}
	s := Source{Path: hex.EncodeToString(all.Sum(nil)), File: combinedName}
	mark, valid, err := readMarker(r.fsys, r.o.Dir, product, &s)
	if err != nil || valid && mark.Input == s.Path {
		return err
	}
	if err := discard(r.fsys, r.o.Dir, product, &s, &mark); err != nil {
		return err
	}
	outputs := &Outputs{fsys: r.fsys, dir: r.o.Dir, step: step}
	defer func() { err = errors.Join(err, outputs.abandon()) }()
	if err := product.Finish(ctx, done, outputs); err != nil {
		return fmt.Errorf("derive: %s: %w", product.Name(), err)
	}
	made, err := outputs.commit()
	if err != nil {
		return err
	}
	r.report.Outputs += len(made)
	for _, out := range made {
		r.report.Written += out.Bytes
	}
	mark = marker{Input: s.Path, Settings: product.Settings(), Outputs: made}
	return writeMarker(r.fsys, r.o.Dir, product, &s, &mark)
}

// combinedName is the name of the marker for outputs that are made of all files.
const combinedName = "combined"
