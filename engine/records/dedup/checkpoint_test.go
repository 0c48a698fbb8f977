package dedup

import (
	"bytes"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path"
	"slices"
	"syscall"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

// story plays random inserts, look-ups, cuts and crashes against a set.
type story struct {
	t                 *testing.T
	rng               *rand.Rand
	disk              *vfs.Mem
	m                 *Map
	model, checkpoint map[uint64]bool
	at                *Checkpoint
	merges            uint64
}

func (s *story) step() {
	t, m := s.t, s.m
	switch n := s.rng.IntN(1000); {
	case n < 600:
		i := s.rng.Uint64N(900)
		insert(t, m, i, !s.model[i])
		s.model[i] = true
		if n < 500 {
			must(t, m.Tend())
		}
	case n < 900:
		i := s.rng.Uint64N(900)
		has(t, m, i, s.model[i])
	case n < 940:
		s.checkpoint = maps.Clone(s.model)
		s.at = saved(t, m)
	case n < 960:
		_, err := m.Checkpoint() // its manifest is never written
		must(t, err)
	case n < 970:
		must(t, m.Check())
	case n < 985 && s.at != nil:
		s.crash(n < 978)
	case s.at != nil:
		must(t, m.Release(*s.at)) // of the last checkpoint that is durable, and much has happened since
	}
	if m := s.m; m.Len() != uint64(len(s.model)) {
		t.Fatalf("%d digests, the model has %d", m.Len(), len(s.model))
	}
}

func (s *story) crash(kill bool) {
	if kill {
		s.disk = s.disk.KillClone()
	} else {
		s.disk = s.disk.CrashClone(s.rng)
	}
	s.merges += s.m.Stats().Merges
	must(s.t, s.m.Close())
	m, err := Open(s.disk, small, s.at)
	must(s.t, err)
	must(s.t, m.Check())
	s.m, s.model = m, maps.Clone(s.checkpoint)
}

func TestY3_ModelWithCrashes(t *testing.T) {
	t.Parallel()
	var merges uint64
	for seed := range uint64(6) {
		s := &story{t: t, rng: rand.New(rand.NewPCG(seed, 1)), disk: vfs.NewMem(seed), model: map[uint64]bool{}}
		var err error
		s.m, err = Open(s.disk, small, nil)
		must(t, err)
		for range 1500 {
			s.step()
		}
		for i := range uint64(900) {
			has(t, s.m, i, s.model[i])
		}
		must(t, s.m.Check())
		merges += s.merges + s.m.Stats().Merges
		must(t, s.m.Close())
	}
	if merges < 60 {
		t.Fatalf("only %d merges", merges)
	}
}

// TestY3_ACrashAtAnyOperation: a story of inserts, merges and cuts is stopped at each of its file operations in turn,
// by a disk that fails from there on, and the disk then loses power. What the last durable checkpoint had is there,
// exactly.
func TestY3_ACrashAtAnyOperation(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	stopped := 0
	for failed := true; failed; {
		mem := vfs.NewMem(uint64(stopped))
		script := faultfs.NewScript(faultfs.Rule{From: stopped + 1, Err: syscall.EIO, Short: stopped * 7 % 300})
		checkpoint, n, err := brief(t, faultfs.New(mem, script))
		if failed = err != nil; failed {
			stopped++
		}
		if checkpoint == nil {
			continue
		}
		for _, disk := range []*vfs.Mem{mem.KillClone(), mem.CrashClone(rng)} {
			m, err := Open(disk, small, checkpoint)
			if err != nil {
				t.Fatalf("stopped at operation %d: %v", stopped, err)
			}
			must(t, m.Check())
			for i := range uint64(100) {
				has(t, m, i, i < n)
			}
			for i := n; i < 72; i++ {
				insert(t, m, i, true)
			}
			must(t, m.Check())
			must(t, m.Close())
		}
	}
	t.Logf("stopped at %d places", stopped)
	if stopped < 100 {
		t.Fatalf("only %d places to stop", stopped)
	}
}

// brief inserts 72 digests with a checkpoint for every twelve, and returns the last that was durable with how many it
// has.
func brief(t *testing.T, fsys vfs.FS) (checkpoint *Checkpoint, n uint64, err error) {
	t.Helper()
	m, err := Open(fsys, small, nil)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = m.Close() }()
	for i := range uint64(72) {
		if _, _, err := m.Insert(digestOf(i), firstOf(i)); err != nil {
			return checkpoint, n, err
		}
		if err := m.Tend(); err != nil {
			return checkpoint, n, err
		}
		if i%12 != 11 {
			continue
		}
		c, err := m.Checkpoint()
		must(t, err)
		if err := m.Sync(); err != nil {
			return checkpoint, n, err
		}
		checkpoint, n = &c, i+1
		if err := m.Release(c); err != nil {
			return checkpoint, n, err
		}
	}
	return checkpoint, n, nil
}

// content is the files of a map.
func content(t *testing.T, disk *vfs.Mem) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	names, err := disk.List(small.Dir)
	must(t, err)
	for _, name := range names {
		files[small.Dir+"/"+name], err = vfs.ReadFile(disk, small.Dir+"/"+name)
		must(t, err)
	}
	return files
}

// meets opens the map and does all with it, and returns the first error.
func meets(disk *vfs.Mem, checkpoint *Checkpoint) error {
	m, err := Open(disk, small, checkpoint)
	if err != nil {
		return err
	}
	return errors.Join(m.Check(), m.Close())
}

func TestY3_DamageIsAnErrorThatNamesTheFile(t *testing.T) {
	t.Parallel()
	disk := vfs.NewMem(1)
	m := open(t, disk, nil)
	fill(t, m, 180)
	checkpoint := saved(t, m)
	must(t, m.Release(*checkpoint))
	files := content(t, disk)
	if len(checkpoint.Runs) < 2 {
		t.Fatalf("%+v", checkpoint)
	}
	for name := range files {
		if serial, ok := runSerial(path.Base(name)); ok &&
			!slices.ContainsFunc(checkpoint.Runs, func(r RunCheckpoint) bool { return r.Serial == serial }) {
			delete(files, name) // it is being made
		}
	}
	must(t, meets(disk, checkpoint))
	for name, whole := range files {
		wrong := func(what string, at int, b []byte) {
			rewrite(t, disk, name, b)
			err := meets(disk, checkpoint)
			var c *vfs.CorruptError
			if !errors.As(err, &c) || !errors.Is(err, vfs.ErrCorrupt) || c.File != name {
				t.Fatalf("%s, %s %d: %v", name, what, at, err)
			}
		}
		step := max(1, len(whole)/150)
		for i := 0; i < len(whole); i += step {
			bad := bytes.Clone(whole)
			bad[i] ^= 4
			wrong("changed byte", i, bad)
			if i%(5*step) == 0 {
				wrong("cut off at", i, whole[:i])
			}
		}
		rewrite(t, disk, name, whole)
		must(t, meets(disk, checkpoint))
		must(t, disk.Remove(name))
		if err := meets(disk, checkpoint); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("without %s: %v", name, err)
		}
		rewrite(t, disk, name, whole)
	}
}

func TestY3_WhatLiesBehindTheCutIsCutOff(t *testing.T) {
	disk := vfs.NewMem(1)
	m := open(t, disk, nil)
	fill(t, m, 180)
	checkpoint := saved(t, m)
	whole := content(t, disk)[entriesFile]
	for _, tail := range [][]byte{whole[headBytes:], whole[headBytes:50], []byte("x")} {
		rewrite(t, disk, entriesFile, append(bytes.Clone(whole), tail...))
		rewrite(t, disk, runName(small.Dir, 77), tail)
		m := open(t, disk, checkpoint)
		if size, _ := disk.Size(entriesFile); size != checkpoint.Length || m.Len() != 180 {
			t.Fatalf("%d bytes and %d digests after %d bytes of tail", size, m.Len(), len(tail))
		}
		if _, err := disk.Size(runName(small.Dir, 77)); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("a run that no checkpoint names is there: %v", err)
		}
	}
	for _, change := range []func(*Checkpoint){
		func(c *Checkpoint) { c.Count++ },
		func(c *Checkpoint) { c.Count-- },
		func(c *Checkpoint) { c.Count = 1 << 60 },
		func(c *Checkpoint) { c.Count = 1 },
		func(c *Checkpoint) { c.Length-- },
		func(c *Checkpoint) { c.Length = 3 },
		func(c *Checkpoint) { c.Runs[0].Digests++ },
		func(c *Checkpoint) { c.Runs[0].Bytes-- },
		func(c *Checkpoint) { c.Runs = c.Runs[1:] },
	} {
		wrong := *checkpoint
		wrong.Runs = append([]RunCheckpoint(nil), checkpoint.Runs...)
		change(&wrong)
		if _, err := Open(disk, small, &wrong); !errors.Is(err, vfs.ErrCorrupt) {
			t.Fatalf("%+v: %v", wrong, err)
		}
		must(t, meets(disk, checkpoint)) // nothing was touched
	}
}

// A map goes on with more memory or with less than it was made with.
func TestY3_OtherMemory(t *testing.T) {
	disk := vfs.NewMem(1)
	m := open(t, disk, nil)
	fill(t, m, 300)
	checkpoint := saved(t, m)
	for _, memory := range []int64{1 << 20, memoryBytesMin, 100 << 10, memoryBytesMin} {
		m, err := Open(disk, Options{Dir: small.Dir, MemoryBytes: memory}, checkpoint)
		must(t, err)
		must(t, m.Check())
		for range uint64(100) {
			insert(t, m, m.Len(), true)
			must(t, m.Tend())
		}
		checkpoint = saved(t, m)
		must(t, m.Close())
	}
	must(t, meets(disk, checkpoint))
}

// A checkpoint costs no file operation, whatever is under way.
func TestCutTouchesNoFile(t *testing.T) {
	script := faultfs.NewScript()
	m := open(t, faultfs.New(vfs.NewMem(1), script), nil)
	fill(t, m, 70)
	script.Add(faultfs.Rule{Err: syscall.EIO})
	_, err := m.Checkpoint()
	script.Clear()
	must(t, err)
	must(t, m.Sync())
}

func TestSyncFailsForEver(t *testing.T) {
	for _, name := range []string{"entries", "run-*"} {
		script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Sync, Name: name, Count: 1, Err: syscall.EIO})
		m := open(t, faultfs.New(vfs.NewMem(1), script), nil)
		fill(t, m, 70)
		c, err := m.Checkpoint()
		must(t, err)
		for range 2 {
			if err := m.Sync(); !errors.Is(err, syscall.EIO) {
				t.Fatalf("Sync: %v", err)
			}
		}
		if _, err := m.Checkpoint(); !errors.Is(err, syscall.EIO) {
			t.Fatalf("Checkpoint: %v", err)
		}
		if err := m.Release(c); !errors.Is(err, syscall.EIO) {
			t.Fatalf("Release: %v", err)
		}
		has(t, m, 3, true)
		insert(t, m, 1000, true)
	}
}
