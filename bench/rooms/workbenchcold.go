package rooms

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"orbweaver/bench/growth"
	"orbweaver/engine"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

const (
	coldBench = 4 << 20 // bytes that the bench has for its hosts: some 27,000 of them
	coldTrips = 200_000 // hosts that come back, at each size
)

// WorkbenchCold measures hosts that leave the workbench for the disk, at each size up to o.Hosts: what one costs in memory and on disk,
// what its way out costs, and its way back when the file is in the page cache; how long a resume reads.
func WorkbenchCold(ctx context.Context, o Options) (_ *growth.Result, err error) {
	away, err := o.in()
	if err != nil {
		return nil, err
	}
	b := &coldHosts{crowd: newCrowd(o.Seed), o: cold.Options{Dir: o.Dir, Seed: o.Seed}}
	b.bench = workbench.New[engine.Site](workbench.Options{MemoryMax: coldBench})
	if b.store, err = cold.Open(vfs.Disk(), b.o, nil); err != nil {
		return nil, errors.Join(err, away())
	}
	b.site = engine.SiteReader()
	disk := func() int64 { return b.store.Stats().LogBytes }
	out := growth.NewMeter("hosts found, visited once, and on disk since (but for 4 MiB of them)", "hosts", disk)
	back := growth.NewMeter("a host back to the bench, and another one out", "hosts", disk)
	for _, size := range growth.Sizes(o.Hosts) {
		if err = b.step(ctx, &o, out, back, size); err != nil {
			break
		}
	}
	err = errors.Join(err, b.store.Close(), away())
	return &growth.Result{Name: "workbench --cold", Runs: []*growth.Run{out.Run, back.Run}}, err
}

// coldHosts is a crowd of which most is on disk.
type coldHosts struct {
	*crowd
	o       cold.Options
	store   *cold.Store
	site    func(b []byte) (engine.Site, error)
	evicted workbench.Evicted
	form    []byte
	leaving span
	coming  span
}

func (b *coldHosts) step(ctx context.Context, o *Options, out, back *growth.Meter, size int64) error {
	out.Resume()
	for b.hosts < size {
		if err := b.grow(ctx, out, min(b.hosts+4096, size)); err != nil {
			return err
		}
		b.now = b.now.Add(siteDelay)
		if err := b.leave(); err != nil {
			return err
		}
	}
	if err := b.cut(out.Run, size); err != nil {
		return err
	}
	p, s := out.Mark(size), b.store.Stats()
	fmt.Fprintf(o.Say, "workbench: %d hosts, %d of them on disk, %.1f bytes of memory each\n", size, s.Hosts, p.MemoryPerItem)
	out.Run.Add(fmt.Sprintf("table of the store, of %d hosts", size), float64(s.TableBytes)/float64(max(s.Hosts, 1)), "bytes a host on disk")
	out.Run.Add(fmt.Sprintf("evicting and putting, of %d hosts", size), b.leaving.each(), "ns of CPU")
	if err := b.trips(ctx, back, size); err != nil {
		return err
	}
	back.Mark(size)
	back.Run.Add(fmt.Sprintf("taking and admitting, of %d hosts", size), b.coming.each(), "ns of CPU")
	b.leaving, b.coming = span{}, span{}
	return b.reopen(out.Run, size)
}

// leave lets hosts go until the rest has room.
func (b *coldHosts) leave() error {
	for b.bench.Crowded() {
		began := growth.CPU()
		b.bench.Evict(b.now, 512, engine.AppendSite, &b.evicted)
		for i := range b.evicted.Len() {
			b.store.Put(b.evicted.At(i))
		}
		if b.store.Buffered() {
			if err := b.store.Flush(); err != nil {
				return err
			}
		}
		b.leaving.add(began, b.evicted.Len())
	}
	return nil
}

// trips brings hosts back, here and there, and lets as many go.
func (b *coldHosts) trips(ctx context.Context, m *growth.Meter, size int64) error {
	m.Resume()
	for trip := range min(coldTrips, size) {
		began, at := growth.CPU(), time.Now()
		b.key = append(b.key[:0], "https://h"...)
		b.key = strconv.AppendInt(b.key, 10_000_000+b.rng.Int64N(size), 10)
		b.key = append(b.key, ".test.org"...)
		if b.bench.Get(b.key) != nil {
			m.Done(1, time.Since(at))
			continue
		}
		form, found, err := b.store.Take(b.form[:0], b.key)
		if b.form = form; err == nil && !found {
			err = fmt.Errorf("rooms: host %s is in neither", b.key)
		}
		if err == nil {
			_, err = b.bench.Admit(b.key, form, b.site, b.now)
		}
		if err != nil {
			return err
		}
		b.coming.add(began, 1)
		m.Done(1, time.Since(at))
		if trip%1024 == 0 {
			if err := errors.Join(b.leave(), ctx.Err()); err != nil {
				return err
			}
		}
	}
	return b.leave()
}

// cut makes all durable, collects, and notes how long it took.
func (b *coldHosts) cut(run *growth.Run, size int64) error {
	began := time.Now()
	cut := b.store.Cut()
	run.Add(fmt.Sprintf("marking a cut, of %d hosts", size), float64(time.Since(began).Nanoseconds()), "ns")
	for done := int64(1); done > 0; {
		var err error
		if done, err = b.store.Collect(1 << 20); err != nil {
			return err
		}
	}
	return errors.Join(b.store.Sync(), b.store.Release(cut))
}

// reopen goes on as a resume does.
func (b *coldHosts) reopen(run *growth.Run, size int64) error {
	cut := b.store.Cut()
	if err := errors.Join(b.store.Sync(), b.store.Close()); err != nil {
		return err
	}
	began, cpu := time.Now(), growth.CPU()
	var err error
	if b.store, err = cold.Open(vfs.Disk(), b.o, &cut); err != nil {
		return err
	}
	run.Add(fmt.Sprintf("opening, of %d hosts", size), time.Since(began).Seconds(), "s")
	run.Add(fmt.Sprintf("opening, of %d hosts", size), (growth.CPU() - cpu).Seconds(), "s of CPU")
	return nil
}
