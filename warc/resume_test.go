package warc

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"orbweaver/internal/vfs"
)

// After a kill at any moment, and a resume at any group, the archive has the groups up to this one, at their positions,
// and no later ones, and it is valid. The model is a list of positions.
func TestResume(t *testing.T) {
	for seed := range uint64(18) {
		rng := rand.New(rand.NewPCG(seed, 11))
		c := Compression(seed % 3)
		mem := vfs.NewMem(seed)
		e := newTestEncoder(t, c)
		var places []Position
		checkpoint := Checkpoint{}
		for life := range 5 {
			w := openTestLater(t, mem, c, 12000, &checkpoint, seed%2 == 1)
			if got := w.Checkpoint(); got != checkpoint {
				t.Fatalf("seed %d life %d: opened at %v, want %v", seed, life, got, checkpoint)
			}
			for range rng.IntN(25) {
				e.Reset()
				page(t, e, len(places), rng.IntN(1500))
				pos, err := w.Append(e.Group())
				if err != nil {
					t.Fatal(err)
				}
				places = append(places, pos)
				if rng.IntN(3) == 0 {
					if err := w.Sync(); err != nil { // from time to time it writes lines of the index
						t.Fatal(err)
					}
				}
				if rng.IntN(8) == 0 {
					if err := w.Finish(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if rng.IntN(3) == 0 {
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
			}
			// The process is killed. The Checkpoint is at some group, not the oldest.
			mem = mem.KillClone()
			places = places[:len(places)-rng.IntN(1+min(len(places), 12))]
			checkpoint = Checkpoint{}
			if n := len(places); n > 0 {
				checkpoint = places[n-1].End()
			}
		}
		w := openTestLater(t, mem, c, 12000, &checkpoint, seed%2 == 1)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		verifyDir(t, mem)
		checkIndexes(t, mem)
		checkPlaces(t, mem, places)
		files, _ := Files(mem, "warc")
		for i, f := range files {
			if f.Serial != uint32(i) || f.Open {
				t.Errorf("seed %d: file %d is %s", seed, i, f.Name)
			}
		}
		names, _ := mem.List("warc")
		if len(names) != 2*len(files) {
			t.Errorf("seed %d: %q", seed, names)
		}
	}
}

// A Checkpoint that is after the end of the files, or not at the end of a record, is refused and nothing is changed.
// The same holds for a new archive where there is one. onePage returns a disk with an archive of one page, whose Writer
// is still open.
func onePage(t *testing.T) (*vfs.Mem, *Writer, Position) {
	t.Helper()
	mem := vfs.NewMem(1)
	w := openTest(t, mem, Gzip, 1<<20, nil)
	e := newTestEncoder(t, Gzip)
	page(t, e, 1, 100)
	pos, err := w.Append(e.Group())
	if err != nil {
		t.Fatal(err)
	}
	return mem, w, pos
}

func TestResumeRefused(t *testing.T) {
	mem, w, pos := onePage(t)
	mem = mem.KillClone()
	files, _ := Files(mem, "warc")
	before := mustRead(t, mem, "warc/"+files[0].Name)
	o := w.o
	for _, checkpoint := range []*Checkpoint{nil, {Serial: 1, Length: 5}, {Length: pos.End().Length + 1}} {
		if _, err := OpenWriter(mem, o, checkpoint); !errors.Is(err, ErrResume) {
			t.Errorf("%v: %v", checkpoint, err)
		}
		if after := mustRead(t, mem, "warc/"+files[0].Name); !bytes.Equal(before, after) {
			t.Errorf("%v: the file has changed", checkpoint)
		}
	}
	if _, err := OpenWriter(mem.KillClone(), o, &Checkpoint{Length: pos.Offset + 3}); !errors.Is(err, ErrResume) {
		t.Errorf("inside a record: %v", err)
	}
}

// A file before the Checkpoint with a torn tail is finished without it, and the tail is kept in another file.
func TestResumeSetsTornEndAside(t *testing.T) {
	mem := vfs.NewMem(1)
	w := openTest(t, mem, Gzip, 4000, nil)
	e := newTestEncoder(t, Gzip)
	var pos Position
	for i := 0; pos.Serial == 0; i++ {
		e.Reset()
		page(t, e, i, 300)
		var err error
		if pos, err = w.Append(e.Group()); err != nil {
			t.Fatal(err)
		}
	}
	files, _ := Files(mem, "warc")
	whole := mustRead(t, mem, "warc/"+files[0].Name)
	if err := mem.Rename("warc/"+files[0].Name, "warc/"+files[0].Name+openSuffix); err != nil {
		t.Fatal(err)
	}
	f, err := mem.OpenRW("warc/" + files[0].Name + openSuffix)
	if err != nil {
		t.Fatal(err)
	}
	torn := int64(len(whole) - 100)
	if _, err := f.WriteAt(make([]byte, 100), torn); err != nil {
		t.Fatal(err)
	}
	checkpoint := pos.End()
	again := openTest(t, mem.KillClone(), Gzip, 4000, &checkpoint)
	fsys := again.fsys
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	kept, aside := mustRead(t, fsys, "warc/"+files[0].Name), mustRead(t, fsys, "warc/"+files[0].Name+TornSuffix)
	if !bytes.Equal(kept, whole[:len(kept)]) || len(kept)+len(aside) != len(whole) ||
		again.Stats().CutBytes != int64(len(aside)) {
		t.Errorf("%d kept, %d aside of %d; %+v", len(kept), len(aside), len(whole), again.Stats())
	}
	checkIndexes(t, fsys)
	verifyFaultless(t, fsys)
}

// The last record is torn at any byte and was never acknowledged: it is removed, earlier records stay, and the next one
// follows.
func TestHostile_S05_aRecordTornAtAnyByteIsCutOff(t *testing.T) {
	for _, form := range []Compression{Gzip, Zstd, None} {
		mem := vfs.NewMem(1)
		w := openTest(t, mem, form, 1<<20, nil)
		e := newTestEncoder(t, form)
		var checkpoint Checkpoint
		for i := range 3 {
			if i == 2 {
				checkpoint = w.Checkpoint()
			}
			e.Reset()
			page(t, e, i, 200)
			if _, err := w.Append(e.Group()); err != nil {
				t.Fatal(err)
			}
		}
		files, _ := Files(mem, "warc")
		name := "warc/" + files[0].Name
		whole := mustRead(t, mem, name)
		step := int64(5)
		if form != Gzip {
			step = 37
		}
		for k := checkpoint.Length; k <= int64(len(whole)); k += step {
			torn := mem.KillClone()
			f, err := torn.OpenRW(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(f.Truncate(k), f.Close()); err != nil {
				t.Fatal(err)
			}
			again := openTest(t, torn, form, 1<<20, &checkpoint)
			e.Reset()
			page(t, e, 3, 200)
			if _, err := again.Append(e.Group()); err != nil {
				t.Fatal(err)
			}
			if err := again.Close(); err != nil {
				t.Fatal(err)
			}
			got := mustRead(t, torn, "warc/"+files[0].Final())
			if !bytes.Equal(got[:checkpoint.Length], whole[:checkpoint.Length]) {
				t.Fatalf("%v, torn at byte %d: what was before it has changed", form, k)
			}
			checkIndexes(t, torn)
			verifyFaultless(t, torn)
			if r := verifyDir(t, torn); r.Types["response"] != 3 {
				t.Fatalf("%v, torn at byte %d: %v", form, k, r.Types)
			}
		}
	}
}

// verifyFaultless verifies each file alone, because references may lead to removed records.
func verifyFaultless(t *testing.T, fsys vfs.FS) {
	t.Helper()
	files, _ := Files(fsys, "warc")
	for _, f := range files {
		v := NewVerifier(VerifyOptions{OnFault: func(f *Fault) { t.Error(f) }})
		if err := v.File(f.Name, bytes.NewReader(mustRead(t, fsys, "warc/"+f.Name))); err != nil {
			t.Error(err)
		}
	}
}

// An archive may continue with another compression: the open file is finished first.
func TestResumeOtherCompression(t *testing.T) {
	mem := vfs.NewMem(1)
	var checkpoint Checkpoint
	for i, c := range []Compression{Gzip, Zstd, None, Gzip} {
		w := openTest(t, mem, c, 1<<20, &checkpoint)
		e := newTestEncoder(t, c)
		page(t, e, i, 100)
		if _, err := w.Append(e.Group()); err != nil {
			t.Fatal(err)
		}
		checkpoint = w.Checkpoint()
		mem = mem.KillClone()
	}
	w := openTest(t, mem, Gzip, 1<<20, &checkpoint)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r := verifyDir(t, mem); r.Files != 4 || r.Types["request"] != 4 {
		t.Errorf("%+v", r)
	}
	checkIndexes(t, mem)
}

// Names are read as they are written, whatever the prefix and host.
func TestNames(t *testing.T) {
	for _, o := range []Options{
		{}, {Prefix: "a-b-c", Host: "my-host.example~1"}, {Prefix: "x-12345678901234567-y", Compression: Zstd},
	} {
		o = o.WithDefaults()
		if err := o.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, serial := range []uint32{0, 7, 99999, 1234567} {
			name := formatName(&o, serial, testDate(0))
			f, ok := ParseName(name + openSuffix)
			if !ok || f.Serial != serial || !f.Open || f.Final() != name || f.Compression != o.Compression {
				t.Errorf("%s: %+v %v", name, f, ok)
			}
		}
	}
	for _, name := range []string{"", "x", "x.warc.gz", "a-2026-00001-h.warc.gz",
		"a-20261121120000123-00001-h.warc.gz.tmp", "a-20261121120000123-00001-h.cdxj",
		"20261121120000123-00001-h.warc.gz", "a-20261121120000123-99999999999-h.warc"} {
		if f, ok := ParseName(name); ok {
			t.Errorf("%s: %+v", name, f)
		}
	}
	for _, o := range []Options{{Prefix: "../x"}, {Prefix: ".x"}, {Prefix: "a/b"}, {Host: "a b"}, {Host: "a\n"},
		{SizeMax: -1}, {Level: 10},
		{Info: []Field{{"a b", ""}}}, {Prefix: "a-20261121120000123-00001-h"}} {
		if o.WithDefaults().Validate() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}

// With FinishLater, Finish reads the resumed file again. Finish and Close report damage, and the file gets no final
// name and no index. Before that it can be written and synced.
func TestFinishTellsOfDamageInWhatAResumeLeftUnread(t *testing.T) {
	mem := vfs.NewMem(1)
	w := openTestLater(t, mem, Gzip, 1<<20, nil, true)
	e := newTestEncoder(t, Gzip)
	var checkpoint Checkpoint
	for i := range 10 {
		e.Reset()
		page(t, e, i, 500)
		pos, err := w.Append(e.Group())
		if err != nil {
			t.Fatal(err)
		}
		checkpoint = pos.End()
	}
	mem = mem.KillClone()
	files, err := Files(mem, "warc")
	if err != nil {
		t.Fatal(err)
	}
	f, err := mem.OpenRW("warc/" + files[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0xff, 0xff, 0xff, 0xff}, checkpoint.Length/2); err != nil {
		t.Fatal(err)
	}
	w = openTestLater(t, mem, Gzip, 1<<20, &checkpoint, true)
	e.Reset()
	page(t, e, 10, 500)
	if _, err := w.Append(e.Group()); err != nil {
		t.Fatal(err)
	}
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
	var damage *Fault
	if err := w.Finish(); !errors.As(err, &damage) || damage.File != files[0].Name || damage.Offset > checkpoint.Length/2 {
		t.Errorf("Finish: %v", err)
	}
	if err := w.Close(); !errors.As(err, &damage) {
		t.Errorf("Close: %v", err)
	}
	if now, _ := Files(mem, "warc"); len(now) != 1 || !now[0].Open {
		t.Errorf("%+v", now)
	}
	if err := w.Abandon(); err != nil {
		t.Error(err)
	}
}

// Files that a resume removes stay removed after a power failure, because the next file has the same serial.
func TestResumeRemovesForGood(t *testing.T) {
	mem, w, _ := onePage(t)
	if err := mem.SyncDir("warc"); err != nil {
		t.Fatal(err)
	}
	mem = mem.KillClone()
	if _, err := OpenWriter(mem, w.o, &Checkpoint{}); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(16) {
		if files, err := Files(mem.CrashClone(rand.New(rand.NewPCG(seed, 1))), "warc"); err != nil || len(files) > 0 {
			t.Fatalf("power cut %d: %v, %v", seed, files, err)
		}
	}
}

// A power failure can destroy the first sector of a file and leave a group after it. A Writer could not continue this
// file, so the group counts as lost if it was never durable.
func TestArchiveBehindACutWantsTheFirstRecord(t *testing.T) {
	mem, _, pos := onePage(t)
	files, _ := Files(mem, "warc")
	read := func(behind Checkpoint) error {
		a := OpenArchive(mem, "warc").Behind(behind)
		_, _, first := a.ReadGroup(pos)
		_, _, again := a.ReadGroup(pos) // from the file that is already open
		if (first == nil) != (again == nil) {
			t.Errorf("first %v, then %v", first, again)
		}
		return errors.Join(first, a.Close())
	}
	if err := read(Checkpoint{}); err != nil {
		t.Fatal(err)
	}
	for _, lost := range []int64{8, pos.Offset / 2, pos.Offset} {
		f, err := mem.OpenRW("warc/" + files[0].Name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt(make([]byte, lost), 0); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		var damage *Fault
		if err := read(Checkpoint{}); !errors.As(err, &damage) {
			t.Errorf("the first %d bytes are zero: %v", lost, err)
		}
		if err := read(pos.End()); err != nil {
			t.Errorf("the group was durable, and is whole: %v", err)
		}
	}
}
