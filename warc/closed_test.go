package warc

import (
	"crypto/sha256"
	"errors"
	"maps"
	"math/rand/v2"
	"syscall"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
	"orbweaver/warc/fixity"
)

// announced is a Listener that keeps what it is told, and fails as often as failures says.
type announced struct {
	files    map[string]fixity.File
	reopened []string
	failures int
}

func newAnnounced() *announced { return &announced{files: map[string]fixity.File{}} }

func (a *announced) FileClosed(f fixity.File) error {
	if a.failures > 0 {
		a.failures--
		return syscall.ENOSPC
	}
	a.files[f.Name] = f
	return nil
}

func (a *announced) FileReopened(name string) error {
	a.reopened = append(a.reopened, name)
	delete(a.files, name)
	return nil
}

// checkAgainst compares what was told with all files of a closed archive.
func (a *announced) checkAgainst(t *testing.T, fsys vfs.FS) {
	t.Helper()
	files, err := Files(fsys, "warc")
	if err != nil || len(files) != len(a.files) {
		t.Fatalf("%d files, %d announced, %v", len(files), len(a.files), err)
	}
	for _, f := range files {
		b := mustRead(t, fsys, "warc/"+f.Name)
		kinds := map[string]uint64{}
		err := ReadFile(fsys, "warc", f, int64(len(b)), ReaderOptions{}, func(z *Reader) error {
			return ScanRecords(z, func(rec *RecordRead) error { kinds[rec.Type.String()]++; return nil }, StopAtDamage)
		})
		got := a.files[f.Name]
		if err != nil || got.Bytes != int64(len(b)) || got.SHA256 != sha256.Sum256(b) ||
			!maps.Equal(got.Records, kinds) {
			t.Errorf("%s: %+v, want %d bytes, %v (%v)", f.Name, got, len(b), kinds, err)
		}
	}
}

// openHeard opens a Writer with a Listener.
func openHeard(t *testing.T, fsys vfs.FS, c Compression, end *Checkpoint, later bool, a *announced) *Writer {
	t.Helper()
	w, err := OpenWriter(fsys, Options{
		Dir: "warc", SizeMax: 9000, Compression: c, FinishLater: later, Listeners: []fixity.Listener{a},
	}, end)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Each closed file is announced with the digest and the records of its bytes, although groups were undone, writes
// failed, and the disk was full when its Listener wrote.
func TestListenersKnowClosedFiles(t *testing.T) {
	for seed := range uint64(12) {
		mem, script := vfs.NewMem(seed), faultfs.NewScript()
		rng, c := rand.New(rand.NewPCG(seed, 5)), Compression(seed%3)
		a := newAnnounced()
		w := openHeard(t, faultfs.New(mem, script), c, nil, seed%2 == 0, a)
		e := newTestEncoder(t, c)
		for i := range 60 {
			e.Reset()
			page(t, e, i, rng.IntN(3000))
			pos, err := w.Append(e.Group())
			if err != nil {
				t.Fatal(err)
			}
			switch rng.IntN(6) {
			case 0:
				err = w.Sync()
			case 1:
				err = w.Sync() // the group commit came before the Undo
				w.Undo(pos)
			case 2:
				w.Undo(pos)
			case 3:
				a.failures = 1
				if err = w.Finish(); errors.Is(err, syscall.ENOSPC) {
					err = nil
				}
				a.failures = 0
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		a.checkAgainst(t, mem)
	}
}

// After a kill the file is read again once, and the announcement is that of the whole file. A closed file behind the
// checkpoint is opened again, which its Listener learns first.
func TestListenersKnowFilesOfAKilledRun(t *testing.T) {
	for seed := range uint64(24) {
		mem := vfs.NewMem(seed)
		rng, c := rand.New(rand.NewPCG(seed, 6)), Compression(seed%3)
		a := newAnnounced()
		w := openHeard(t, mem, c, nil, seed%2 == 0, a)
		e := newTestEncoder(t, c)
		var ends []Checkpoint
		for i := range 40 {
			e.Reset()
			page(t, e, i, rng.IntN(3000))
			if _, err := w.Append(e.Group()); err != nil {
				t.Fatal(err)
			}
			ends = append(ends, w.Checkpoint())
			if rng.IntN(3) == 0 {
				if err := w.Sync(); err != nil { // from time to time it writes lines of the index
					t.Fatal(err)
				}
			}
		}
		if seed%4 < 2 {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
		} else if err := w.Abandon(); err != nil {
			t.Fatal(err)
		}
		before := len(a.files)
		w = openHeard(t, mem, c, &ends[rng.IntN(len(ends))], seed%2 == 0, a)
		if seed%4 < 2 && len(a.reopened) != before-len(a.files) {
			t.Errorf("%d files announced, then %d, and %d opened again", before, len(a.files), len(a.reopened))
		}
		for i := range 20 {
			e.Reset()
			page(t, e, i, rng.IntN(3000))
			if _, err := w.Append(e.Group()); err != nil {
				t.Fatal(err)
			}
			if err := w.Sync(); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		a.checkAgainst(t, mem)
	}
}
