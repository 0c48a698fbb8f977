package sieve

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"

	"orbweaver/internal/invariants"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

// story uses a sieve in all ways that change the disk: several flushes, one refused in the middle, checkpoints of both
// buckets with concurrent Adds, merges and releases. It stops at the first error of the disk.
type story struct {
	s       *Sieve
	cut     *Checkpoint
	out     []string // the emitted URLs, as in a queue that is saved together with the sieve
	outCut  int
	added   uint64
	durable uint64 // URLs added before the last durable checkpoint
	moment  func() // called between the steps of a checkpoint
}

func (st *story) live(fsys vfs.FS, o Options) (err error) {
	if st.s, err = Open(fsys, o, nil); err != nil {
		return err
	}
	refuse := -1
	emit := func(p []byte) error {
		if refuse == 0 {
			return errRefused
		}
		refuse--
		st.out = append(st.out, string(p))
		return nil
	}
	for ; st.added < 2500; st.added++ { // a store so large that a bucket writes to its file
		addAll(st.s, st.added)
	}
	for round := range 8 {
		for range 60 {
			if !st.s.Full() {
				if err := st.s.WaitRoom(context.Background()); err != nil {
					return err
				}
			}
			addAll(st.s, st.added, st.added/3)
			st.added++
		}
		if round == 3 || round == 5 {
			refuse = 7
		}
		if _, err := st.s.Flush(emit); err != nil && !errors.Is(err, errRefused) {
			return err
		}
		refuse = -1
		st.addOne()
		if round%2 == 1 {
			if err := st.checkpoint(); err != nil {
				return err
			}
		}
	}
	return st.s.Close()
}

func (st *story) addOne() {
	addAll(st.s, st.added)
	st.added++
}

func (st *story) checkpoint() error {
	im, err := st.s.Snapshot()
	if err != nil {
		return err
	}
	outCut, added := len(st.out), st.added
	st.addOne() // producers continue before the snapshot is written
	st.moment()
	c, err := im.Write()
	if err != nil {
		return err
	}
	st.addOne()
	st.moment()
	if err := st.s.Sync(); err != nil {
		return err
	}
	st.cut, st.outCut, st.durable = &c, outCut, added
	st.addOne()
	st.moment()
	return st.s.Release(c)
}

// survives opens the disk as a kill and as a power failure would leave it now, and looks for every URL of the last
// durable checkpoint.
func (st *story) survives(t *testing.T, mem *vfs.Mem, o Options, when string) {
	t.Helper()
	if st.cut == nil {
		return
	}
	for i, disk := range []*vfs.Mem{mem.KillClone(), mem.CrashClone(newRand(st.added))} {
		again, err := Open(disk, o, st.cut)
		if err != nil {
			t.Fatalf("%s, clone %d: %v", when, i, err)
		}
		must(t, again.Check())
		all := append(st.out[:st.outCut:st.outCut], flush(t, again)...)
		for u := range st.durable {
			if all[u] != string(urlOf(u)) {
				t.Fatalf("%s, clone %d: URL %d came out as %q", when, i, u, all[u])
			}
		}
		if uint64(len(all)) != st.durable {
			t.Fatalf("%s, clone %d: %d URLs came out of %d", when, i, len(all), st.durable)
		}
		must(t, again.Close())
	}
}

// The disk fails from its n-th call on, for every n. The test then opens the sieve as after a kill and as after a power
// failure.
func TestS5_NoURLIsLostWhereverTheDiskDies(t *testing.T) {
	o := small
	o.RunsMax = 2
	step := 1
	if invariants.Race {
		step = 5 // this run has no concurrent calls
	}
	for n := 1; ; n += step {
		mem := vfs.NewMem(uint64(n))
		script := faultfs.NewScript(faultfs.Rule{From: n, Err: syscall.EIO, Short: n % 50})
		st := &story{moment: func() {}}
		err := st.live(faultfs.New(mem, script), o)
		st.survives(t, mem, o, fmt.Sprint("disk died at call ", n))
		if err == nil {
			t.Logf("%d calls", n-1)
			if st.s.Stats().Spilled < 10_000 {
				t.Errorf("%+v", st.s.Stats())
			}
			return
		}
	}
}

// Kills between Snapshot and Write, before Sync and after it.
func TestS5_NoURLIsLostBetweenTheStepsOfACheckpoint(t *testing.T) {
	mem := vfs.NewMem(5)
	moments := 0
	st := &story{}
	st.moment = func() {
		moments++
		st.survives(t, mem, small, fmt.Sprint("moment ", moments))
	}
	must(t, st.live(mem, small))
	t.Logf("%+v", st.s.Stats())
	if moments != 12 {
		t.Fatalf("%d moments", moments)
	}
}

// One call of the disk fails and the caller tries again: no URL is missing, and none is emitted twice.
func TestADiskThatFailsOnceLosesNothing(t *testing.T) {
	for n := 1; n < 400; n++ {
		mem := vfs.NewMem(uint64(n))
		script := faultfs.NewScript()
		s := open(t, faultfs.New(mem, script), small, nil)
		for _, op := range []faultfs.Op{faultfs.Open, faultfs.Read, faultfs.Write, faultfs.Remove} {
			script.Add(faultfs.Rule{Op: op, From: n, Count: 1, Err: syscall.ENOSPC, Short: 11})
		}
		var out []string
		var errs int
		retry := func(what func() error) {
			for what() != nil {
				if errs++; errs > 4 {
					t.Fatal("one fault for each kind of call, and more than four errors")
				}
			}
		}
		flushed := func() error {
			_, err := s.Flush(func(p []byte) error { out = append(out, string(p)); return nil })
			return err
		}
		var i uint64
		var c Checkpoint
		for range 12 {
			for range 20 {
				addAll(s, i, i/2)
				i++
			}
			retry(flushed)
			addAll(s, i)
			i++
			retry(func() (err error) { c, err = cutNow(s); return err })
			must(t, s.Sync())
			retry(func() error { return s.Release(c) })
		}
		retry(flushed)
		want(t, out, urls(upTo(i)...))
		retry(s.Check)
		balanced(t, s)
		if names, _ := mem.List(small.Dir); len(names) > s.Stats().Runs+1+s.Stats().Obsolete {
			t.Fatalf("files %q for %+v", names, s.Stats())
		}
		if errs == 0 {
			t.Logf("%d calls of a kind", n-1)
			return
		}
	}
}

func TestSyncFailsForEver(t *testing.T) {
	script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Sync, Count: 1, Err: syscall.EIO})
	s := open(t, faultfs.New(vfs.NewMem(1), script), small, nil)
	addAll(s, 1)
	_, err := cutNow(s)
	must(t, err)
	first, second := s.Sync(), s.Sync()
	_, flushErr := s.Flush(nil)
	_, cutErr := cutNow(s)
	for i, err := range []error{first, second, flushErr, cutErr, s.Release(Checkpoint{})} {
		if !errors.Is(err, syscall.EIO) {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	addAll(s, 2) // Add still works
}

func upTo(n uint64) (out []uint64) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// A checkpoint whose manifest never became durable does not damage the one before.
func TestRollBackWithoutARelease(t *testing.T) {
	mem := vfs.NewMem(1)
	s := open(t, mem, small, nil)
	addAll(s, 1, 2)
	first := durable(t, s)
	flush(t, s)
	addAll(s, 3)
	if _, err := cutNow(s); err != nil {
		t.Fatal(err)
	}
	flush(t, s)
	addAll(s, 4)
	second, err := cutNow(s)
	must(t, err)
	must(t, s.Sync())
	for i, c := range []*Checkpoint{first, &second} {
		again := open(t, mem.KillClone(), small, c)
		want(t, flush(t, again), [][]string{urls(1, 2), urls(4)}[i])
	}
	must(t, s.Release(second))
	if names, _ := mem.List(small.Dir); len(names) != len(second.Runs)+1 {
		t.Fatalf("after the release there are %q", names)
	}
}

// For the race detector: only Snapshot needs exclusion.
func TestWriteBesideAddSyncAndReleaseBesideFlushToo(t *testing.T) {
	mem := vfs.NewMem(1)
	s := open(t, mem, small, nil)
	var out []string
	var i uint64
	for range 30 {
		im, err := s.Snapshot()
		must(t, err)
		outAtCut, added := len(out), i
		var others sync.WaitGroup
		others.Go(func() {
			for range 100 {
				addAll(s, i)
				i++
			}
		})
		c, err := im.Write()
		must(t, err)
		others.Wait()
		others.Go(func() {
			if err := s.Sync(); err != nil {
				t.Error(err)
			}
			again, err := Open(mem.CrashClone(newRand(added)), small, &c)
			if err != nil {
				t.Error(err)
				return
			}
			n := outAtCut
			if _, err := again.Flush(func([]byte) error { n++; return nil }); err != nil || uint64(n) != added {
				t.Errorf("%d URLs after a power cut, of %d (%v)", n, added, err)
			}
			if err := errors.Join(again.Close(), s.Release(c)); err != nil {
				t.Error(err)
			}
			s.Stats()
		})
		for range 3 {
			for range 40 {
				addAll(s, i, i/2)
				i++
			}
			out = append(out, flush(t, s)...)
		}
		addAll(s, i)
		i++
		others.Wait()
	}
	want(t, append(out, flush(t, s)...), urls(upTo(i)...))
}

// A snapshot works on a disk that refuses everything, and costs one small copy for any number of pending URLs.
func TestCutOnlyMarks(t *testing.T) {
	script := faultfs.NewScript()
	s := open(t, faultfs.New(vfs.NewMem(1), script), Options{Dir: "sieve", BucketBytes: 8 << 20}, nil)
	var i uint64
	for ; !s.Full(); i++ {
		addAll(s, i)
	}
	script.Add(faultfs.Rule{From: 1, Err: syscall.EIO})
	allocs := testing.AllocsPerRun(100, func() {
		im, err := s.Snapshot()
		must(t, err)
		im.Abandon()
	})
	if allocs > 2 && !invariants.Race {
		t.Errorf("%v allocations: the image is one, a channel to tell who waits the other", allocs)
	}
	im, err := s.Snapshot()
	must(t, err)
	addAll(s, i)
	if _, err := im.Write(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("Write on a dead disk: %v", err)
	}
	im.Abandon() // has no effect
	script.Clear()
	c := durable(t, s) // contains everything
	if c.Filling.Count != i+1 || c.Generation != 1 {
		t.Fatalf("%+v", *c.Filling)
	}
}

// Between Snapshot and the end of Write, a Flush would move URLs to places that the checkpoints of other components do
// not contain.
func TestTheStoreStandsStillWhileAnImageIsOpen(t *testing.T) {
	s := open(t, vfs.NewMem(1), small, nil)
	addAll(s, 1)
	im, err := s.Snapshot()
	must(t, err)
	for what, f := range map[string]func(){
		"Flush": func() { _, _ = s.Flush(func([]byte) error { return nil }) },
		"Cut":   func() { _, _ = s.Snapshot() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s is allowed", what)
				}
			}()
			f()
		}()
	}
	im.Abandon()
	want(t, flush(t, s), urls(1))
	defer func() {
		if recover() == nil {
			t.Error("an abandoned image is written")
		}
	}()
	_, _ = im.Write()
}

// Checkpoints do not write a bucket again that a failed Flush left.
func TestALeftoverIsWrittenOnce(t *testing.T) {
	mem := vfs.NewMem(1)
	s := open(t, mem, small, nil)
	addAll(s, 1, 2, 3)
	refuseAfter(t, s, 1)
	first, second := durable(t, s), durable(t, s)
	refuseAfter(t, s, 0)
	third := durable(t, s)
	refuseAfter(t, s, 1)
	fourth := durable(t, s)
	for _, c := range []*Checkpoint{second, third, fourth} {
		if *c.Frozen != *first.Frozen || (*c.FrozenMask == *first.FrozenMask) != (c != fourth) {
			t.Fatalf("%+v, at first %+v", c, first)
		}
	}
	again := open(t, mem.CrashClone(newRand(1)), small, fourth)
	if c := durable(t, again); *c.Frozen != *fourth.Frozen || *c.FrozenMask != *fourth.FrozenMask {
		t.Fatalf("after Open %+v", c)
	}
	want(t, flush(t, again), urls(3))
}
