package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

// archiveOf writes n pages, and leaves the file open if finished is false.
func archiveOf(t testing.TB, c Compression, n int, finished bool) (*vfs.Mem, FileInfo) {
	t.Helper()
	mem := vfs.NewMem(1)
	w, e := openTest(t, mem, c, 1<<20, nil), newTestEncoder(t, c)
	for i := range n {
		e.Reset()
		page(t, e, i, 200)
		if _, err := w.Append(e.Group()); err != nil {
			t.Fatal(err)
		}
	}
	if finished {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	} else {
		mem = mem.KillClone()
	}
	return mem, onlyFile(t, mem)
}

func onlyFile(t testing.TB, fsys vfs.FS) FileInfo {
	t.Helper()
	files, err := Files(fsys, "warc")
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

func mend(t testing.TB, fsys vfs.FS) (m Mended, faults []*Fault) {
	t.Helper()
	m, err := Mend(fsys, "warc", onlyFile(t, fsys), MendOptions{OnFault: func(f *Fault) { faults = append(faults, f) }})
	if err != nil {
		t.Fatal(err)
	}
	return m, faults
}

// wantMended fails unless the archive is valid and complete, with an index, and Mend changes nothing.
func wantMended(t testing.TB, fsys vfs.FS) {
	t.Helper()
	verifyDir(t, fsys)
	checkIndexes(t, fsys)
	if again, faults := mend(t, fsys); again.Changed() || len(faults) > 0 {
		t.Errorf("mended once more: %+v, %v", again, faults)
	}
}

func TestMend_aSoundFileStaysAsItIs(t *testing.T) {
	for c := Gzip; c <= None; c++ {
		mem, info := archiveOf(t, c, 5, true)
		before := mustRead(t, mem, "warc/"+info.Name)
		m, faults := mend(t, mem)
		if m.Changed() || len(faults) > 0 || m.Records != 16 || m.Size != int64(len(before)) {
			t.Errorf("%s: %+v %v", c, m, faults)
		}
		if err := mem.Remove("warc/" + info.Index()); err != nil {
			t.Fatal(err)
		}
		if m, _ := mend(t, mem); !m.Indexed || m.Lost > 0 {
			t.Errorf("%s: without its index: %+v", c, m)
		}
		put(t, mem, "warc/"+info.Index(), []byte("com,example)/ 20260101000000 {}\n"))
		if m, _ := mend(t, mem); !m.Indexed {
			t.Errorf("%s: with another index: %+v", c, m)
		}
		if !bytes.Equal(before, mustRead(t, mem, "warc/"+info.Name)) {
			t.Errorf("%s: the file was changed", c)
		}
		wantMended(t, mem)
	}
}

func TestMend_anOpenFileIsFinishedAndItsTornEndSetAside(t *testing.T) {
	for c := Gzip; c <= None; c++ {
		mem, info := archiveOf(t, c, 4, false)
		whole := mustRead(t, mem, "warc/"+info.Name)
		put(t, mem, "warc/"+info.Name, append(bytes.Clone(whole), whole[:len(whole)/5]...)[:len(whole)+len(whole)/9])
		m, _ := mend(t, mem)
		if !m.Finished || !m.Indexed || m.Size != int64(len(whole)) && c != None {
			t.Errorf("%s: %+v", c, m)
		}
		if torn := mustRead(t, mem, "warc/"+m.Aside); int64(len(torn)) != m.Lost || !strings.HasSuffix(m.Aside, ".torn") {
			t.Errorf("%s: %d bytes set aside in %s, %d lost", c, len(torn), m.Aside, m.Lost)
		}
		wantMended(t, mem)
	}
}

// A wrong byte anywhere costs only its group, and the removed bytes are kept in a file. In uncompressed files only
// blocks have a digest.
func TestMend_oneWrongByteCostsOneGroup(t *testing.T) {
	for _, c := range []Compression{Gzip, Zstd} {
		sound, info := archiveOf(t, c, 4, true)
		whole := mustRead(t, sound, "warc/"+info.Name)
		recs, _ := readAll(t, whole, ReaderOptions{})
		for at := 0; at < len(whole); at += 41 {
			mem := sound.KillClone()
			bad := bytes.Clone(whole)
			bad[at] ^= 0x41
			put(t, mem, "warc/"+info.Name, bad)
			m, faults := mend(t, mem)
			now := mustRead(t, mem, "warc/"+info.Name)
			left, _ := readAll(t, now, ReaderOptions{})
			if len(left) < len(recs)-3 || m.Records != len(left) {
				t.Errorf("%s: byte %d: %d records of %d are left, %d told: %v", c, at, len(left), len(recs), m.Records, faults)
			}
			if bytes.Equal(now, bad) { // a byte without effect, such as one of a gzip header
				continue
			}
			kept := bad
			if strings.HasSuffix(m.Aside, tornSuffix) {
				kept = bad[m.Size:]
			}
			if len(faults) == 0 || !bytes.Equal(mustRead(t, mem, "warc/"+m.Aside), kept) {
				t.Errorf("%s: byte %d: %v, %+v", c, at, faults, m)
			}
			wantMended(t, mem)
		}
	}
}

func TestMend_aFileOfWhichNothingIsLeftKeepsItsPlace(t *testing.T) {
	for c := Gzip; c <= None; c++ {
		for _, content := range []string{"", "nothing of the kind", strings.Repeat("\x00", 5000)} {
			mem, info := archiveOf(t, c, 2, false)
			put(t, mem, "warc/"+info.Name, []byte(content))
			m, _ := mend(t, mem)
			if m.Records != 1 || m.Lost != int64(len(content)) || (m.Aside == "") != (content == "") {
				t.Errorf("%s: %q: %+v", c, content[:min(len(content), 20)], m)
			}
			wantMended(t, mem)
		}
	}
}

func TestMend_whoeverVisitsDecidesAndLearnsTheNewPlaces(t *testing.T) {
	mem, info := archiveOf(t, Gzip, 6, false)
	places := map[ID]Position{}
	m, err := Mend(mem, "warc", info, MendOptions{Visit: func(rec *RecordRead, at Position) (bool, error) {
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
	wantMended(t, mem)
	recs, _ := readAll(t, mustRead(t, mem, "warc/"+m.File), ReaderOptions{})
	if len(recs) != 16 {
		t.Errorf("%d records are left of 19", len(recs))
	}
	for i := range recs {
		if at := places[recs[i].ID]; at.Offset != recs[i].Offset || at.Length != recs[i].Length {
			t.Errorf("record %d lies at %d, and was said to lie at %d", i, recs[i].Offset, at.Offset)
		}
	}
	stop := errors.New("enough")
	visit := func(*RecordRead, Position) (bool, error) { return true, stop }
	if _, err := Mend(mem, "warc", onlyFile(t, mem), MendOptions{Visit: visit}); !errors.Is(err, stop) {
		t.Errorf("Visit's error came back as %v", err)
	}
}

// After a kill at any call, Mend is called again and gives the same result.
func TestMend_killedAtAnyCallItIsDoneAgain(t *testing.T) {
	for _, open := range []bool{false, true} {
		origin, info := archiveOf(t, Gzip, 4, !open)
		bad := mustRead(t, origin, "warc/"+info.Name)
		bad[len(bad)/2] ^= 0x41
		put(t, origin, "warc/"+info.Name, bad)
		want := origin.KillClone()
		mend(t, want)
		result := mustRead(t, want, "warc/"+info.Final())
		for call := 1; ; call++ {
			mem := origin.KillClone()
			dead := errors.Join(syscall.EIO)
			script := faultfs.NewScript(faultfs.Rule{From: call, Err: dead})
			_, err := Mend(faultfs.New(mem, script), "warc", info, MendOptions{})
			mem = mem.KillClone()
			if err := FinishMending(mem, "warc"); err != nil {
				t.Fatal(err)
			}
			mend(t, mem)
			if got := mustRead(t, mem, "warc/"+info.Final()); !bytes.Equal(got, result) {
				t.Errorf("killed at call %d: another file", call)
			}
			wantMended(t, mem)
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

// For any bytes Mend ends, and its result is valid.
func FuzzMend(f *testing.F) {
	for _, c := range []Compression{Gzip, Zstd, None} {
		b := sample(f, c, 2)
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
		name := fmt.Sprintf("p-20261121070000000-00000-h%s", suffixOf(Compression(form%3)))
		put(t, mem, "warc/"+name, b)
		mend(t, mem)
		wantMended(t, mem)
	})
}
