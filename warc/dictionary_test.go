package warc

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/warc/member"
)

// trained is a dictionary for the records of page.
func trained(t testing.TB) []byte {
	t.Helper()
	e := newTestEncoder(t, None)
	var samples [][]byte
	for n := range 300 {
		e.Reset()
		page(t, e, n, 1500)
		for i := range e.Group().Len() {
			at, length := e.Group().Record(i)
			samples = append(samples, bytes.Clone(e.Group().Bytes()[at:at+length]))
		}
	}
	d, err := member.TrainDictionary(samples, 16<<10)
	if err != nil || len(d) > 16<<10 {
		t.Fatal(len(d), err)
	}
	return d
}

// openWords opens a Writer whose files start with a dictionary.
func openWords(t testing.TB, fsys vfs.FS, dictionary []byte, checkpoint *Checkpoint) (*Writer, *Encoder) {
	t.Helper()
	w, err := OpenWriter(fsys, Options{Dir: "warc", Prefix: "test-crawl", Host: "h", SizeMax: 24 << 10,
		Compression: Zstd, Dictionary: dictionary}, checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	e, err := NewEncoder(EncoderOptions{Compression: Zstd, Dictionary: dictionary})
	if err != nil {
		t.Fatal(err)
	}
	return w, e
}

// writePages appends the pages from..to-1 and returns their positions.
func writePages(t testing.TB, w *Writer, e *Encoder, from, to int) (places []Position) {
	t.Helper()
	for n := from; n < to; n++ {
		e.Reset()
		page(t, e, n, 700)
		if n%3 == 0 {
			// compressed early, for a file that may be full before it is appended
			if err := e.Pack(w); err != nil {
				t.Fatal(err)
			}
		}
		pos, err := w.Append(e.Group())
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, pos)
	}
	return places
}

func TestA1_FilesWithADictionaryAreWholeAndEachGroupIsReadAlone(t *testing.T) {
	fsys, words := vfs.NewMem(1), trained(t)
	w, e := openWords(t, fsys, words, nil)
	places := writePages(t, w, e, 0, 100)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r := verifyDir(t, fsys)
	if r.Types["response"]+r.Types["revisit"] != 100 || r.Types["warcinfo"] != int(w.Stats().Files) || r.Files < 3 {
		t.Fatalf("%+v", r)
	}
	checkIndexes(t, fsys)
	files, _ := Files(fsys, "warc")
	var size int64
	for _, f := range files {
		b := mustRead(t, fsys, "warc/"+f.Name)
		size += int64(len(b))
		if string(b[:4]) != dictionaryMagic {
			t.Errorf("%s begins with % x", f.Name, b[:4])
		}
	}
	if size != w.Stats().Bytes {
		t.Errorf("%d bytes are counted, %d are there", w.Stats().Bytes, size)
	}
	a := OpenArchive(fsys, "warc")
	for n, pos := range places {
		group, at, err := a.ReadGroup(Position{Serial: pos.Serial, Offset: pos.Offset})
		if err != nil || at != pos || len(group) != 3 {
			t.Fatalf("page %d at %v: %d records at %v, %v", n, pos, len(group), at, err)
		}
		if want := fmt.Sprintf("n=%d", n); !bytes.HasSuffix(group[0].TargetURI, []byte(want)) {
			t.Errorf("page %d is %s", n, group[0].TargetURI)
		}
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

func TestADictionaryMakesSmallRecordsSmaller(t *testing.T) {
	size := func(words []byte) int64 {
		fsys := vfs.NewMem(1)
		w, e := openWords(t, fsys, words, nil)
		var sum int64
		for _, pos := range writePages(t, w, e, 0, 50) {
			sum += pos.Length
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return sum
	}
	if with, without := size(trained(t)), size(nil); with > without*2/3 {
		t.Errorf("%d bytes with a dictionary, %d without", with, without)
	}
}

// A Writer continues a file with its dictionary after any group. With another dictionary it starts the next file.
func TestResumeBehindADictionary(t *testing.T) {
	fsys, words := vfs.NewMem(1), trained(t)
	w, e := openWords(t, fsys, words, nil)
	places := writePages(t, w, e, 0, 40)
	if err := w.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	checkpoint := places[25].End()
	w, e = openWords(t, fsys, words, &checkpoint)
	if got := writePages(t, w, e, 26, 30); got[0].Serial == checkpoint.Serial && got[0].Offset != checkpoint.Length {
		t.Errorf("went on at %v behind %v", got[0], checkpoint)
	}
	if err := w.Abandon(); err != nil {
		t.Fatal(err)
	}
	checkpoint = w.Checkpoint()
	w, e = openWords(t, fsys, trained(t), &checkpoint)
	if got := writePages(t, w, e, 30, 35); got[0].Serial != checkpoint.Serial+1 {
		t.Errorf("another dictionary in file %d, behind %v", got[0].Serial, checkpoint)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if r := verifyDir(t, fsys); r.Types["request"] != 35 {
		t.Errorf("%+v", r)
	}
	checkIndexes(t, fsys)
}

func TestGroupsOfAnotherDictionaryAreRefused(t *testing.T) {
	fsys := vfs.NewMem(1)
	w, _ := openWords(t, fsys, trained(t), nil)
	_, e := openWords(t, vfs.NewMem(1), trained(t), nil)
	page(t, e, 1, 100)
	if _, err := w.Append(e.Group()); !errors.Is(err, ErrRecord) {
		t.Errorf("%v", err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// Bytes that are no zstd dictionary, or have no number, are refused before they are used.
func TestWhatIsNoDictionaryIsRefused(t *testing.T) {
	nameless := trained(t)
	copy(nameless[4:8], "\x00\x00\x00\x00")
	for what, d := range map[string][]byte{
		"empty": {}, "text": []byte("words words words"), "without a number": nameless,
	} {
		err := EncoderOptions{Compression: Zstd, Level: 1, Dictionary: d}.Validate()
		if !errors.Is(err, member.ErrDictionary) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := (EncoderOptions{Compression: Gzip, Level: 1, Dictionary: trained(t)}).Validate(); err == nil {
		t.Error("a dictionary for gzip")
	}
}
