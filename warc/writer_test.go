package warc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

// Groups are complete and in one file, every record names the warcinfo record of its file, and offsets are true. The
// index written from memory equals that made by reading.
func TestWriter(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd, None} {
		t.Run(c.String(), func(t *testing.T) {
			fsys := vfs.NewMem(1)
			w := openTest(t, fsys, c, 9000, nil)
			e := newTestEncoder(t, c)
			var places []Position
			for i := range 20 {
				e.Reset()
				page(t, e, i, 10+i*100)
				pos, err := w.Append(e.Group())
				if err != nil {
					t.Fatal(err)
				}
				places = append(places, pos)
				if w.Checkpoint() != pos.End() {
					t.Fatal(w.Checkpoint(), pos)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if r := verifyDir(t, fsys); r.Files < 3 || r.Types["request"] != 20 || r.Types["revisit"] != 4 {
				t.Errorf("%+v", r)
			}
			if s := w.Stats(); s.Files != s.Finished || s.Groups != 20 || s.Records[Request] != 20 || s.Unfinished != 0 {
				t.Errorf("%+v", s)
			}
			checkIndexes(t, fsys)
			checkPlaces(t, fsys, places)
			if _, err := w.Append(e.Group()); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
	}
}

// checkPlaces reads every page at its reported position, with and without the length.
func checkPlaces(t *testing.T, fsys vfs.FS, places []Position) {
	t.Helper()
	a := OpenArchive(fsys, "warc")
	for i, pos := range places {
		for _, ask := range []Position{pos, {Serial: pos.Serial, Offset: pos.Offset}} {
			group, got, err := a.ReadGroup(ask)
			if err != nil || got != pos || len(group) != 3 {
				t.Fatal(i, len(group), got, pos, err)
			}
			if !bytes.HasSuffix(group[0].TargetURI, fmt.Appendf(nil, "&n=%d", i)) {
				t.Errorf("%d: %s", i, group[0].TargetURI)
			}
		}
		group, _, err := a.ReadGroup(pos)
		if err != nil {
			t.Fatal(err)
		}
		whole := group[0].Block
		for n, limit := range []int{0, 10, HeadMost, HeadMost + 1, len(whole), len(whole) + 1} {
			ask := pos
			ask.Length *= int64(n % 2) // known, or not
			rec, err := a.ReadStart(ask, int64(limit))
			if err != nil || !bytes.Equal(rec.TargetURI, group[0].TargetURI) ||
				!bytes.Equal(rec.Block, whole[:min(limit, len(whole))]) {
				t.Fatal(i, limit, err)
			}
		}
		bad := Position{Serial: pos.Serial, Offset: pos.Offset + 1}
		var f *Fault
		if _, _, err := a.ReadGroup(bad); !errors.As(err, &f) {
			t.Errorf("a wrong offset gives %v", err)
		}
		if _, err := a.ReadStart(bad, 10); !errors.As(err, &f) {
			t.Errorf("a wrong offset gives %v", err)
		}
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// Many workers append and some sync at the same time, and the archive is valid.
func TestWriterConcurrent(t *testing.T) {
	fsys := vfs.NewMem(1)
	w := openTest(t, fsys, Gzip, 30000, nil)
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			e := newTestEncoder(t, Gzip)
			for i := range 40 {
				e.Reset()
				page(t, e, worker*1000+i, 500)
				if _, err := w.Append(e.Group()); err != nil {
					t.Error(err)
				}
				if i%10 == worker {
					if err := w.Sync(); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	all.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r := verifyDir(t, fsys); r.Types["response"]+r.Types["revisit"] != 160 {
		t.Errorf("%+v", r)
	}
	checkIndexes(t, fsys)
	if s := w.Stats(); s.Finished != s.Files {
		t.Errorf("%+v", s)
	}
}

// A1: a finished file consists of complete members and reported offsets are true, even after failed and short writes:
// the disk is sometimes full, at any byte, and truncating sometimes fails.
func TestA1_FailedWritesLeaveWholeMembers(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 7))
		mem := vfs.NewMem(seed)
		script := faultfs.NewScript()
		fsys := faultfs.New(mem, script)
		c := Compression(seed % 3)
		w := openTest(t, fsys, c, 20000, nil)
		e := newTestEncoder(t, c)
		var places []Position
		failures := uint64(0)
		for i := range 40 {
			e.Reset()
			page(t, e, i, rng.IntN(3000))
			mem.SetLimit(mem.Used() + int64(rng.IntN(6000)))
			if rng.IntN(3) == 0 {
				script.Add(faultfs.Rule{Op: faultfs.Truncate, Count: 1, Err: syscall.EIO})
			}
			if rng.IntN(3) == 0 {
				script.Add(faultfs.Rule{Op: faultfs.Write, Name: "*.open", Count: 1, Err: syscall.EIO, Short: rng.IntN(200)})
			}
			pos, err := w.Append(e.Group())
			for tries := 0; err != nil; tries++ {
				failures++
				if tries > 10 {
					t.Fatal(err)
				}
				mem.SetLimit(1 << 40)
				pos, err = w.Append(e.Group())
			}
			places = append(places, pos)
			script.Clear()
		}
		mem.SetLimit(1 << 40)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if r := verifyDir(t, mem); r.Types["request"] != 40 || !r.OK() {
			t.Fatalf("seed %d: %+v", seed, r)
		}
		checkPlaces(t, mem, places)
		checkIndexes(t, mem)
		if s := w.Stats(); s.Failures != failures || failures == 0 {
			t.Errorf("seed %d: %d failures, counted %d", seed, failures, s.Failures)
		}
	}
}

// A2: a final name appears only after the data is durable. After a power failure at any moment, each file with a final
// name is valid and complete, and has its index.
func TestA2_FinalNamesAreDurable(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	mem := vfs.NewMem(1)
	var disks []*vfs.Mem
	crash := func() { disks = append(disks, mem.CrashClone(rng)) }
	// The power can fail at each call of Close that changes the disk.
	fsys := &watched{FS: mem, before: crash}
	w := openTest(t, fsys, Gzip, 9000, nil)
	e := newTestEncoder(t, Gzip)
	for i := range 30 {
		e.Reset()
		page(t, e, i, 800)
		if _, err := w.Append(e.Group()); err != nil {
			t.Fatal(err)
		}
		crash()
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	finals := 0
	for _, disk := range disks {
		files, err := Files(disk, "warc")
		if err != nil {
			t.Fatal(err)
		}
		v := NewVerifier(VerifyOptions{OnFault: func(f *Fault) { t.Error(f) }})
		for _, f := range files {
			if f.Open {
				continue
			}
			finals++
			b := mustRead(t, disk, "warc/"+f.Name)
			if !bytes.Equal(b, mustRead(t, mem, "warc/"+f.Name)) {
				t.Errorf("%s is not what was written", f.Name)
			}
			if !bytes.Equal(mustRead(t, disk, "warc/"+f.Index()), mustRead(t, mem, "warc/"+f.Index())) {
				t.Errorf("%s is not what was written", f.Index())
			}
			if err := v.File(f.Name, bytes.NewReader(b)); err != nil {
				t.Error(err)
			}
		}
		v.Finish()
	}
	if finals == 0 {
		t.Error("no crash saw a final name")
	}
}

// watched calls before for each rename and directory sync.
type watched struct {
	vfs.FS
	before func()
}

func (w *watched) Rename(a, b string) error  { w.before(); return w.FS.Rename(a, b) }
func (w *watched) SyncDir(dir string) error  { w.before(); return w.FS.SyncDir(dir) }
func (w *watched) MkdirAll(dir string) error { return w.FS.MkdirAll(dir) }

// A power failure after Sync does not remove anything that was appended before it.
func TestSyncIsDurable(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for seed := range uint64(20) {
		mem := vfs.NewMem(seed)
		mem.MkdirAll("warc")
		mem.SyncDir(".")
		w := openTest(t, mem, Gzip, 15000, nil)
		e := newTestEncoder(t, Gzip)
		var synced Checkpoint
		var kept []Position
		for i := range 25 {
			e.Reset()
			page(t, e, i, 800)
			pos, err := w.Append(e.Group())
			if err != nil {
				t.Fatal(err)
			}
			if i < 20 {
				kept = append(kept, pos)
				synced = pos.End()
			}
			if i == 19 {
				if err := w.Sync(); err != nil {
					t.Fatal(err)
				}
			}
		}
		disk := mem.CrashClone(rng)
		again := openTest(t, disk, Gzip, 15000, &synced)
		checkPlaces(t, disk, kept)
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		verifyDir(t, disk)
		checkIndexes(t, disk)
	}
}

// A failed fsync is not repeated: the Writer refuses everything, and Close leaves the open name of the file.
func TestFailedSyncStays(t *testing.T) {
	mem := vfs.NewMem(1)
	script := faultfs.NewScript()
	w := openTest(t, faultfs.New(mem, script), Gzip, 1<<20, nil)
	e := newTestEncoder(t, Gzip)
	page(t, e, 1, 100)
	if _, err := w.Append(e.Group()); err != nil {
		t.Fatal(err)
	}
	script.Add(faultfs.Rule{Op: faultfs.Sync, Count: 1, Err: syscall.EIO})
	if err := w.Sync(); !errors.Is(err, ErrLost) || !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if _, err := w.Append(e.Group()); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
	if err := w.Sync(); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
	if err := w.Close(); !errors.Is(err, ErrLost) {
		t.Error(err)
	}
	if files, _ := Files(mem, "warc"); len(files) != 1 || !files[0].Open {
		t.Error(files)
	}
}

// A Close that failed on a full disk continues where it stopped.
func TestCloseAgain(t *testing.T) {
	for from := range 16 {
		mem := vfs.NewMem(1)
		script := faultfs.NewScript()
		w := openTest(t, faultfs.New(mem, script), Gzip, 1<<20, nil)
		e := newTestEncoder(t, Gzip)
		page(t, e, 1, 100)
		if _, err := w.Append(e.Group()); err != nil {
			t.Fatal(err)
		}
		if err := w.Sync(); err != nil {
			t.Fatal(err)
		}
		for i, op := range []faultfs.Op{faultfs.Open, faultfs.Write, faultfs.Rename, faultfs.SyncDir} {
			script.Add(faultfs.Rule{Op: op, From: 1 + from>>i&1, Count: 1 + from%3, Err: syscall.ENOSPC})
		}
		if err := w.Close(); !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		for tries := 0; ; tries++ {
			err := w.Close()
			if err == nil {
				break
			}
			if errors.Is(err, ErrLost) || tries > 12 {
				t.Fatal(err)
			}
		}
		verifyDir(t, mem)
		checkIndexes(t, mem)
	}
}

// A Checkpoint goes through JSON, and orders.
func TestCut(t *testing.T) {
	c := Checkpoint{Serial: 3, Length: 1 << 40}
	b, err := json.Marshal(c)
	if err != nil || string(b) != `{"serial":3,"length":1099511627776}` {
		t.Fatal(string(b), err)
	}
	var d Checkpoint
	if err := json.Unmarshal(b, &d); err != nil || c != d {
		t.Fatal(d, err)
	}
	if !(Checkpoint{Serial: 2, Length: 9}).Before(c) || c.Before(d) ||
		!c.Before(Checkpoint{Serial: 3, Length: 1<<40 + 1}) {
		t.Error("order")
	}
}

// An undone group is neither in the file, nor in the index, nor in the counts. What is synced before and after it
// survives a power failure.
func TestA1_AnUndoneGroupNeverWas(t *testing.T) {
	fsys := vfs.NewMem(1)
	w := openTest(t, fsys, Gzip, 1<<20, nil)
	e := newTestEncoder(t, Gzip)
	add := func(i int) Position {
		t.Helper()
		e.Reset()
		page(t, e, i, 500+i)
		pos, err := w.Append(e.Group())
		if err != nil {
			t.Fatal(err)
		}
		return pos
	}
	var places []Position
	for i := range 10 {
		places = append(places, add(len(places)))
		before := w.Stats()
		gone := add(100 + i)
		if i%2 == 0 {
			if err := w.Sync(); err != nil { // the group commit came before the Undo
				t.Fatal(err)
			}
			before.Syncs++
		}
		w.Undo(gone)
		after := w.Stats()
		before.IndexMemory, after.IndexMemory = 0, 0
		if w.Checkpoint() != places[len(places)-1].End() || before != after {
			t.Fatalf("%v, not %v:\n%+v\n%+v", w.Checkpoint(), places[len(places)-1].End(), before, after)
		}
		places = append(places, add(len(places)))
		if err := w.Sync(); err != nil {
			t.Fatal(err)
		}
		checkPlaces(t, fsys.CrashClone(nil), places)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	verifyDir(t, fsys)
	checkIndexes(t, fsys)
	checkPlaces(t, fsys, places)
}
