package repair

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

// archiveOf writes n pages, and leaves the file open if finished is false.
func archiveOf(t testing.TB, c warc.Compression, n int, finished bool) (*vfs.Mem, warc.FileInfo) {
	t.Helper()
	mem := vfs.NewMem(1)
	w, e := openTest(t, mem, c, nil), newTestEncoder(t, c, nil)
	writePages(t, w, e, n, 200)
	if finished {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	} else {
		mem = mem.KillClone()
	}
	return mem, onlyFile(t, mem)
}

func onlyFile(t testing.TB, fsys vfs.FS) warc.FileInfo {
	t.Helper()
	files, err := warc.Files(fsys, "warc")
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	return files[0]
}

func put(t testing.TB, fsys vfs.FS, name string, b []byte) {
	t.Helper()
	err := vfs.WriteAtomic(fsys, name, func(w io.Writer) error { _, err := w.Write(b); return err })
	if err != nil {
		t.Fatal(err)
	}
}

func repairFile(t testing.TB, fsys vfs.FS) (m Result, faults []*warc.Fault) {
	t.Helper()
	m, err := File(fsys, "warc", onlyFile(t, fsys), Options{OnFault: func(f *warc.Fault) { faults = append(faults, f) }})
	if err != nil {
		t.Fatal(err)
	}
	return m, faults
}

// wantRepaired fails unless the archive is valid and complete, with an index, and File changes nothing.
func wantRepaired(t testing.TB, fsys vfs.FS) {
	t.Helper()
	verifyDir(t, fsys)
	checkIndexes(t, fsys)
	if again, faults := repairFile(t, fsys); again.Changed() || len(faults) > 0 {
		t.Errorf("mended once more: %+v, %v", again, faults)
	}
}

func TestFile_aSoundFileStaysAsItIs(t *testing.T) {
	for c := warc.Gzip; c <= warc.None; c++ {
		mem, info := archiveOf(t, c, 5, true)
		before := mustRead(t, mem, "warc/"+info.Name)
		m, faults := repairFile(t, mem)
		if m.Changed() || len(faults) > 0 || m.Records != 16 || m.Size != int64(len(before)) {
			t.Errorf("%s: %+v %v", c, m, faults)
		}
		if err := mem.Remove("warc/" + info.Index()); err != nil {
			t.Fatal(err)
		}
		if m, _ := repairFile(t, mem); !m.Indexed || m.Lost > 0 {
			t.Errorf("%s: without its index: %+v", c, m)
		}
		put(t, mem, "warc/"+info.Index(), []byte("com,example)/ 20260101000000 {}\n"))
		if m, _ := repairFile(t, mem); !m.Indexed {
			t.Errorf("%s: with another index: %+v", c, m)
		}
		if !bytes.Equal(before, mustRead(t, mem, "warc/"+info.Name)) {
			t.Errorf("%s: the file was changed", c)
		}
		wantRepaired(t, mem)
	}
}

func TestFile_anOpenFileIsFinishedAndItsTornEndSetAside(t *testing.T) {
	for c := warc.Gzip; c <= warc.None; c++ {
		mem, info := archiveOf(t, c, 4, false)
		whole := mustRead(t, mem, "warc/"+info.Name)
		put(t, mem, "warc/"+info.Name, append(bytes.Clone(whole), whole[:len(whole)/5]...)[:len(whole)+len(whole)/9])
		m, _ := repairFile(t, mem)
		if !m.Finished || !m.Indexed || m.Size != int64(len(whole)) && c != warc.None {
			t.Errorf("%s: %+v", c, m)
		}
		if torn := mustRead(t, mem, "warc/"+m.Aside); int64(len(torn)) != m.Lost || !strings.HasSuffix(m.Aside, ".torn") {
			t.Errorf("%s: %d bytes set aside in %s, %d lost", c, len(torn), m.Aside, m.Lost)
		}
		wantRepaired(t, mem)
	}
}

// A wrong byte anywhere costs only its group, and the removed bytes are kept in a file. In uncompressed files only
// blocks have a digest.
func TestFile_oneWrongByteCostsOneGroup(t *testing.T) {
	for _, c := range []warc.Compression{warc.Gzip, warc.Zstd} {
		sound, info := archiveOf(t, c, 4, true)
		whole := mustRead(t, sound, "warc/"+info.Name)
		recs, _ := readAll(t, whole, warc.ReaderOptions{})
		for at := 0; at < len(whole); at += 41 {
			mem := sound.KillClone()
			bad := bytes.Clone(whole)
			bad[at] ^= 0x41
			put(t, mem, "warc/"+info.Name, bad)
			m, faults := repairFile(t, mem)
			now := mustRead(t, mem, "warc/"+info.Name)
			left, _ := readAll(t, now, warc.ReaderOptions{})
			if len(left) < len(recs)-3 || m.Records != len(left) {
				t.Errorf("%s: byte %d: %d records of %d are left, %d told: %v", c, at, len(left), len(recs), m.Records, faults)
			}
			if bytes.Equal(now, bad) { // a byte without effect, such as one of a gzip header
				continue
			}
			kept := bad
			if strings.HasSuffix(m.Aside, warc.TornSuffix) {
				kept = bad[m.Size:]
			}
			if len(faults) == 0 || !bytes.Equal(mustRead(t, mem, "warc/"+m.Aside), kept) {
				t.Errorf("%s: byte %d: %v, %+v", c, at, faults, m)
			}
			wantRepaired(t, mem)
		}
	}
}

func TestFile_aFileOfWhichNothingIsLeftKeepsItsPlace(t *testing.T) {
	for c := warc.Gzip; c <= warc.None; c++ {
		for _, content := range []string{"", "nothing of the kind", strings.Repeat("\x00", 5000)} {
			mem, info := archiveOf(t, c, 2, false)
			put(t, mem, "warc/"+info.Name, []byte(content))
			m, _ := repairFile(t, mem)
			if m.Records != 1 || m.Lost != int64(len(content)) || (m.Aside == "") != (content == "") {
				t.Errorf("%s: %q: %+v", c, content[:min(len(content), 20)], m)
			}
			wantRepaired(t, mem)
		}
	}
}

func TestFile_VisitDecidesAndGetsTheNewPositions(t *testing.T) {
	mem, info := archiveOf(t, warc.Gzip, 6, false)
	places := map[warc.ID]warc.Position{}
	m, err := File(mem, "warc", info, Options{Visit: func(rec *warc.RecordRead, at warc.Position) (bool, error) {
		if len(rec.Block) != int(rec.ContentLength) {
			t.Errorf("%d bytes of the block at %d, not %d", len(rec.Block), rec.Offset, rec.ContentLength)
		}
		if bytes.Contains(rec.TargetURI, []byte("/page/2")) {
			return false, nil
		}
		places[rec.ID] = at
		return true, nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	wantRepaired(t, mem)
	recs, _ := readAll(t, mustRead(t, mem, "warc/"+m.File), warc.ReaderOptions{})
	if len(recs) != 16 {
		t.Errorf("%d records are left of 19", len(recs))
	}
	for i := range recs {
		if at := places[recs[i].ID]; at.Offset != recs[i].Offset || at.Length != recs[i].Length {
			t.Errorf("record %d lies at %d, and was said to lie at %d", i, recs[i].Offset, at.Offset)
		}
	}
	stop := errors.New("enough")
	visit := func(*warc.RecordRead, warc.Position) (bool, error) { return true, stop }
	if _, err := File(mem, "warc", onlyFile(t, mem), Options{Visit: visit}); !errors.Is(err, stop) {
		t.Errorf("Visit's error came back as %v", err)
	}
}

// After a kill at any call, File is called again and gives the same result.
func TestFile_afterAKillAtAnyCallItIsDoneAgain(t *testing.T) {
	for _, open := range []bool{false, true} {
		origin, info := archiveOf(t, warc.Gzip, 4, !open)
		bad := mustRead(t, origin, "warc/"+info.Name)
		bad[len(bad)/2] ^= 0x41
		put(t, origin, "warc/"+info.Name, bad)
		want := origin.KillClone()
		repairFile(t, want)
		result := mustRead(t, want, "warc/"+info.Final())
		for call := 1; ; call++ {
			mem := origin.KillClone()
			dead := errors.Join(syscall.EIO)
			script := faultfs.NewScript(faultfs.Rule{From: call, Err: dead})
			_, err := File(faultfs.New(mem, script), "warc", info, Options{})
			mem = mem.KillClone()
			if err := Finish(mem, "warc"); err != nil {
				t.Fatal(err)
			}
			repairFile(t, mem)
			if got := mustRead(t, mem, "warc/"+info.Final()); !bytes.Equal(got, result) {
				t.Errorf("killed at call %d: another file", call)
			}
			wantRepaired(t, mem)
			names, _ := mem.List("warc")
			kept := slices.ContainsFunc(names, func(n string) bool {
				return strings.Contains(n, damagedSuffix) && bytes.Equal(mustRead(t, mem, "warc/"+n), bad)
			})
			if !kept {
				t.Errorf("killed at call %d: the file as it was is gone: %q", call, names)
			}
			if err == nil {
				break
			}
		}
	}
}

func TestFile_keepsTheDictionary(t *testing.T) {
	whole := vfs.NewMem(1)
	words := trained(t)
	w, e := openTest(t, whole, warc.Zstd, words), newTestEncoder(t, warc.Zstd, words)
	places := writePages(t, w, e, 20, 700)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files, _ := warc.Files(whole, "warc")
	name, front := "warc/"+files[0].Name, int64(0)
	if _, n, err := member.ReadDictionary(bytes.NewReader(mustRead(t, whole, name))); err != nil || n == 0 {
		t.Fatalf("%d, %v", n, err)
	} else {
		front = n
	}
	for _, c := range []struct {
		what   string
		damage func(b []byte) []byte
		kept   int
	}{
		{"sound", func(b []byte) []byte { return b }, 20},
		{"torn", func(b []byte) []byte { return b[:len(b)-5] }, 20},
		{"without its warcinfo", func(b []byte) []byte { b[front+20] ^= 0x55; return b }, 20},
		{"without a page", func(b []byte) []byte { b[places[7].Offset+30] ^= 0x55; return b }, 19},
		{"without its dictionary", func(b []byte) []byte { b[front/2] ^= 0x55; return b }, 0},
	} {
		t.Run(c.what, func(t *testing.T) {
			fsys := vfs.NewMem(1)
			if err := fsys.MkdirAll("warc"); err != nil {
				t.Fatal(err)
			}
			b := c.damage(mustRead(t, whole, name))
			put(t, fsys, name, b)
			faults := 0
			m, err := File(fsys, "warc", files[0], Options{OnFault: func(*warc.Fault) { faults++ }})
			if err != nil {
				t.Fatal(err)
			}
			r := verifyDir(t, fsys)
			if got := r.Types["response"] + r.Types["revisit"]; got != c.kept || r.Types["warcinfo"] != 1 {
				t.Errorf("%+v of a file %s; %d faults", r, c.what, faults)
			}
			if c.what == "sound" && (faults > 0 || m.Lost > 0) || m.Lost < 0 {
				t.Errorf("%+v", m)
			}
			checkIndexes(t, fsys)
		})
	}
}

// For any bytes File ends, and its result is valid.
func FuzzFile(f *testing.F) {
	for _, c := range []warc.Compression{warc.Gzip, warc.Zstd, warc.None} {
		b := sample(f, c)
		f.Add(b, byte(c))
		f.Add(b[:len(b)/2], byte(c))
		f.Add(append(bytes.Clone(b[:len(b)/2]), b...), byte(c))
		f.Add(b[3:], byte(c))
	}
	f.Fuzz(func(t *testing.T, b []byte, form byte) {
		mem := vfs.NewMem(1)
		if err := mem.MkdirAll("warc"); err != nil {
			t.Fatal(err)
		}
		name := "p-20261121070000000-00000-h" + []string{".warc.gz", ".warc.zst", ".warc"}[form%3]
		put(t, mem, "warc/"+name, b)
		repairFile(t, mem)
		wantRepaired(t, mem)
	})
}
