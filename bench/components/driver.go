package components

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Options of a measurement.
type Options struct {
	URLs     int64     // at the end; digests in the case of payload deduplication
	Hosts    int64     // over which the URLs are spread
	Memory   int64     // of the component, in bytes; 0 for the default in Table
	Dir      string    // for the files of the component; must not exist, and is removed at the end
	Seed     uint64    // of all random draws
	Progress io.Writer // gets a line at each size
}

// Component is a row of Table.
type Component struct {
	Name   string
	What   string                 // one line, for lists
	Memory int64                  // default of Options.Memory; 0 if the component has no such setting
	sizes  func(*Options) []int64 // at which the component is measured
	open   func(*driver) (adapter, error)
}

// adapter feeds one component. An adapter belongs to one goroutine.
type adapter interface {
	// grow brings the component to a size and marks a Point in each run.
	grow(ctx context.Context, size int64) error
	// finish measures what does not depend on the size. It is called after the last size.
	finish() error
	// close closes the component. It is called once, after an error too.
	close() error
}

// Table lists the components.
func Table() []Component {
	urls := func(o *Options) []int64 { return Sizes(o.URLs) }
	hosts := func(o *Options) []int64 { return Sizes(o.Hosts) }
	return []Component{
		{"sieve", "the sieve, growing: what a URL costs however many there are", 64 << 20, urls, openSieve},
		{"cache", "the fingerprint cache beside a true LRU: look-ups, hits, restart", 256 << 20, cacheSizes, openCache},
		{"dedup", "payload deduplication, growing: what a page costs however many there are", 192 << 20, urls, openDedup},
		{"virtualize", "the queues on disk, alone and growing", 0, urls, openQueues},
		{"workbench", "the workbench alone: memory, Visits and checkpoints at millions of hosts", 0, hosts, openWorkbench},
		{coldName, "hosts that leave the workbench for the disk, and return", 0, hosts, openCold},
	}
}

// Named finds a row of Table.
func Named(name string) (Component, bool) {
	for _, c := range Table() {
		if c.Name == name {
			return c, true
		}
	}
	return Component{}, false
}

// Measure measures the component of this name.
func Measure(ctx context.Context, name string, o Options) (_ *Result, err error) {
	c, ok := Named(name)
	if !ok {
		return nil, fmt.Errorf("components: no component has the name %q", name)
	}
	if o.Memory == 0 {
		o.Memory = c.Memory
	}
	if err := os.MkdirAll(filepath.Dir(o.Dir), 0o750); err != nil {
		return nil, fmt.Errorf("components: %w", err)
	}
	if err := os.Mkdir(o.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("components: %w; give another --dir", err)
	}
	d := &driver{Options: o, result: &Result{Name: name, What: c.What}}
	defer func() { err = errors.Join(err, os.RemoveAll(o.Dir)) }()
	a, err := c.open(d)
	if err != nil {
		return nil, fmt.Errorf("components: %s: %w", name, err)
	}
	if err := errors.Join(d.drive(ctx, a, c.sizes(&o)), a.close()); err != nil {
		return nil, fmt.Errorf("components: %s: %w", name, err)
	}
	return d.result, nil
}

// driver is one measurement in progress. Adapters embed it.
type driver struct {
	Options
	result *Result
}

func (d *driver) drive(ctx context.Context, a adapter, sizes []int64) error {
	for _, size := range sizes {
		if err := a.grow(ctx, size); err != nil {
			return err
		}
	}
	return a.finish()
}

// run adds an empty run to the result.
func (d *driver) run(name, items string) *Run {
	r := &Run{Name: name, Items: items}
	d.result.Runs = append(d.result.Runs, r)
	return r
}

// meter adds a run with a Meter to the result. All files of the component count as its disk.
func (d *driver) meter(name, items string) *Meter {
	m := NewMeter(name, items, d.disk)
	d.result.Runs = append(d.result.Runs, m.Run)
	return m
}

// progress prints a line.
func (d *driver) progress(format string, values ...any) {
	fmt.Fprintf(d.Progress, d.result.Name+": "+format+"\n", values...)
}

// disk is the length of all files of the component.
func (d *driver) disk() (sum int64) {
	entries, err := os.ReadDir(d.Dir)
	if err != nil {
		return 0
	}
	for _, e := range entries {
		if info, err := os.Stat(filepath.Join(d.Dir, e.Name())); err == nil {
			sum += info.Size()
		}
	}
	return sum
}
