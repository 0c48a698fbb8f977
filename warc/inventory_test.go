package warc

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
	"orbweaver/warc/fixity"
)

func newEncoder(t *testing.T) *Encoder {
	t.Helper()
	e, err := NewEncoder(EncoderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// appendPage appends a page of 1,500 bytes that do not compress.
func appendPage(t *testing.T, e *Encoder, n int) {
	t.Helper()
	body := make([]byte, 1500)
	for i, rng := 0, rand.New(rand.NewPCG(uint64(n), 1)); i < len(body); i++ {
		body[i] = byte(rng.Uint32())
	}
	err := e.Append(&Record{
		Type: Response, Date: time.Unix(1e9, 0), TargetURI: fmt.Appendf(nil, "http://a.test/%d", n),
		Block: [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\n"), body}, Index: &IndexInfo{Status: 200},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// openListed opens a Writer with a manifest, as a crawl does.
func openListed(t *testing.T, fsys vfs.FS, end *Checkpoint) *Writer {
	t.Helper()
	m, err := fixity.Open(fsys, "warc", 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := OpenWriter(fsys, Options{
		Dir: "warc", SizeMax: 6000, FinishLater: true, Listeners: []fixity.Listener{m},
	}, end)
	if err == nil {
		err = CompleteManifest(fsys, "warc", m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// checkManifest compares all lines of both files of a manifest with the files that are there, and returns their number.
func checkManifest(t *testing.T, fsys vfs.FS) (lines int) {
	t.Helper()
	for _, name := range []string{fixity.ManifestName, fixity.SumsName} {
		text, err := vfs.ReadFile(fsys, "warc/"+name)
		if errors.Is(err, fs.ErrNotExist) || len(text) == 0 {
			continue
		}
		list, err := fixity.Read(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, f := range list.Files {
			b, err := vfs.ReadFile(fsys, "warc/"+f.Name)
			if err != nil || sha256.Sum256(b) != f.SHA256 {
				t.Errorf("%s: %s is not as its line says (%v)", name, f.Name, err)
			}
		}
		lines = len(list.Files)
	}
	return lines
}

// The power fails at any call that changes the disk, also while a resume opens closed files again: no line of the
// manifest differs from its file. The resumed archive ends with a line for each file.
func TestManifestIsTrueAfterEachCrash(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	type image struct {
		disk *vfs.Mem
		end  Checkpoint // synced before the crash
	}
	var images []image
	var end Checkpoint
	watch := func(mem *vfs.Mem, few int) vfs.FS {
		script := faultfs.NewScript()
		script.Watch(func(op faultfs.Op, _ bool, _ string) {
			if op == faultfs.Rename || op == faultfs.SyncDir || op == faultfs.Remove || op == faultfs.Truncate ||
				rng.IntN(few) == 0 {
				images = append(images, image{mem.CrashClone(rng), end}, image{mem.KillClone(), end})
			}
		})
		return faultfs.New(mem, script)
	}
	write := func(w *Writer, pages int) {
		e := newEncoder(t)
		for i := range pages {
			e.Reset()
			appendPage(t, e, i)
			if _, err := w.Append(e.Group()); err != nil {
				t.Fatal(err)
			}
			if i%2 == 0 {
				if err := w.Sync(); err != nil {
					t.Fatal(err)
				}
				end = w.Checkpoint()
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	mem := vfs.NewMem(1)
	write(openListed(t, watch(mem, 40), nil), 15)
	if lines := checkManifest(t, mem); lines < 3 {
		t.Fatalf("%d lines", lines)
	}
	// A resume at an earlier end opens a closed file again, and removes those after it.
	resumed := mem.KillClone()
	end = Checkpoint{Serial: 1, Length: sizeOfGroups(t, mem, 1)}
	write(openListed(t, watch(resumed, 40), &end), 3)
	checkManifest(t, resumed)
	for _, i := range images {
		checkManifest(t, i.disk)
		if i.end == (Checkpoint{}) {
			continue
		}
		write(openListed(t, i.disk, &i.end), 1)
		files, err := Files(i.disk, "warc")
		if err != nil || checkManifest(t, i.disk) != len(files) {
			t.Errorf("%d files, %d lines, %v", len(files), checkManifest(t, i.disk), err)
		}
	}
	if len(images) < 60 {
		t.Errorf("%d images", len(images))
	}
}

// sizeOfGroups returns the end of the first group of a file.
func sizeOfGroups(t *testing.T, fsys vfs.FS, serial uint32) (end int64) {
	t.Helper()
	info, err := FindFile(fsys, "warc", serial)
	if err != nil {
		t.Fatal(err)
	}
	records := 0
	err = ReadFile(fsys, "warc", info, 1<<30, ReaderOptions{}, func(z *Reader) error {
		return ScanRecords(z, func(rec *RecordRead) error {
			_, err := io.Copy(io.Discard, rec)
			if records++; records == 2 { // warcinfo and a page
				end = rec.Offset + rec.Length
			}
			return err
		}, StopAtDamage)
	})
	if err != nil {
		t.Fatal(err)
	}
	return end
}
