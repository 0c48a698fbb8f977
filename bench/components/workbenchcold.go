package components

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"orbweaver/engine/state/site"
	"orbweaver/internal/cputime"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

const (
	coldName   = "workbench --cold"
	coldMemory = 4 << 20 // bytes of the workbench: some 27,000 hosts
	coldTrips  = 200_000 // hosts that return, at each size
)

// coldAdapter measures hosts that leave the workbench for the disk: memory and disk of a host, the cost of eviction,
// the cost of a return while the file is in the page cache, and how long a resume reads.
type coldAdapter struct {
	*driver
	*hostSet
	o       cold.Options
	store   *cold.Store
	site    func(b []byte) (site.State, error)
	evicted workbench.Evicted
	form    []byte

	evict, restore      *Meter
	evicting, restoring cpuSum
}

func openCold(d *driver) (adapter, error) {
	a := &coldAdapter{driver: d, hostSet: newHostSet(d.Seed), o: cold.Options{Dir: d.Dir, Seed: d.Seed},
		site: site.NewDecoder()}
	a.workbench = workbench.New[site.State](workbench.Options{MemoryMax: coldMemory})
	var err error
	if a.store, err = cold.Open(vfs.Disk(), a.o, nil); err != nil {
		return nil, err
	}
	log := func() int64 { return a.store.Stats().LogBytes }
	a.evict = NewMeter("hosts found, visited once, and on disk since (except 4 MiB of them)", "hosts", log)
	a.restore = NewMeter("a host restored, and another one evicted", "hosts", log)
	d.result.Runs = append(d.result.Runs, a.evict.Run, a.restore.Run)
	return a, nil
}

func (a *coldAdapter) finish() error { return nil }
func (a *coldAdapter) close() error  { return a.store.Close() }

// grow adds hosts up to a size.
func (a *coldAdapter) grow(ctx context.Context, size int64) error {
	a.evict.Resume()
	for a.hosts < size {
		if err := a.hostSet.grow(ctx, a.evict, min(a.hosts+4096, size)); err != nil {
			return err
		}
		a.now = a.now.Add(siteDelay)
		if err := a.evictIdle(); err != nil {
			return err
		}
	}
	if err := a.checkpoint(a.evict.Run, size); err != nil {
		return err
	}
	p, s := a.evict.Mark(size), a.store.Stats()
	a.progress("%d hosts, %d of them on disk, %.1f bytes of memory each", size, s.Hosts, p.MemoryPerItem)
	a.evict.Run.Add(fmt.Sprintf("table of the store, of %d hosts", size), float64(s.TableBytes)/float64(max(s.Hosts, 1)),
		"bytes a host on disk")
	a.evict.Run.Add(fmt.Sprintf("Evict and Put, of %d hosts", size), a.evicting.each(), "ns of CPU")
	if err := a.measureReturns(ctx, a.restore, size); err != nil {
		return err
	}
	a.restore.Mark(size)
	a.restore.Run.Add(fmt.Sprintf("Take and Admit, of %d hosts", size), a.restoring.each(), "ns of CPU")
	a.evicting, a.restoring = cpuSum{}, cpuSum{}
	return a.reopen(a.evict.Run, size)
}

// evictIdle evicts hosts until the others fit.
func (a *coldAdapter) evictIdle() error {
	for a.workbench.Memory().Short() {
		began := cputime.Process()
		a.workbench.Memory().Evict(a.now, 512, site.Append, &a.evicted)
		for i := range a.evicted.Len() {
			a.store.Put(a.evicted.At(i))
		}
		if a.store.Buffered() {
			if err := a.store.Flush(); err != nil {
				return err
			}
		}
		a.evicting.add(began, a.evicted.Len())
	}
	return nil
}

// measureReturns restores random hosts, and evicts as many.
func (a *coldAdapter) measureReturns(ctx context.Context, m *Meter, size int64) error {
	m.Resume()
	for trip := range min(coldTrips, size) {
		began, at := cputime.Process(), time.Now()
		a.key = append(a.key[:0], "https://h"...)
		a.key = strconv.AppendInt(a.key, 10_000_000+a.rng.Int64N(size), 10)
		a.key = append(a.key, ".test.org"...)
		if a.workbench.Get(a.key) != nil {
			m.Done(1, time.Since(at))
			continue
		}
		form, found, err := a.store.Take(a.form[:0], a.key)
		if a.form = form; err == nil && !found {
			err = fmt.Errorf("host %s is neither in memory nor on disk", a.key)
		}
		if err == nil {
			_, err = a.workbench.Memory().Admit(a.key, form, a.site, a.now)
		}
		if err != nil {
			return err
		}
		a.restoring.add(began, 1)
		m.Done(1, time.Since(at))
		if trip%1024 == 0 {
			if err := errors.Join(a.evictIdle(), ctx.Err()); err != nil {
				return err
			}
		}
	}
	return a.evictIdle()
}

// checkpoint syncs and collects, and measures Cut.
func (a *coldAdapter) checkpoint(run *Run, size int64) error {
	began := time.Now()
	cut := a.store.Checkpoint()
	run.Add(fmt.Sprintf("Cut, of %d hosts", size), float64(time.Since(began).Nanoseconds()), "ns")
	for done := int64(1); done > 0; {
		var err error
		if done, err = a.store.Collect(1 << 20); err != nil {
			return err
		}
	}
	return errors.Join(a.store.Sync(), a.store.Release(cut))
}

// reopen measures how long a resume reads.
func (a *coldAdapter) reopen(run *Run, size int64) error {
	cut := a.store.Checkpoint()
	if err := errors.Join(a.store.Sync(), a.store.Close()); err != nil {
		return err
	}
	began, cpu := time.Now(), cputime.Process()
	var err error
	if a.store, err = cold.Open(vfs.Disk(), a.o, &cut); err != nil {
		return err
	}
	run.Add(fmt.Sprintf("opening, of %d hosts", size), time.Since(began).Seconds(), "s")
	run.Add(fmt.Sprintf("opening, of %d hosts", size), (cputime.Process() - cpu).Seconds(), "s of CPU")
	return nil
}
