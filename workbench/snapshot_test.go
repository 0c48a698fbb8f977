package workbench

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"orbweaver/internal/vfs"
)

// full returns a workbench with sites in all states, and its snapshot.
func full(t testing.TB, sites int) (w *Workbench[int], snapshot []byte) {
	w = New[int](Options{PathsPerVisit: 2})
	for n := range sites {
		vs, _ := w.GetOrAdd(fmt.Appendf(nil, "https://%d.example.org", n))
		w.Site(vs).Update(func(s *int) { *s = n })
		for k := range n % 4 {
			w.Push(vs, fmt.Appendf(nil, "/path/%d/%s", k, strings.Repeat("p", n%300)))
		}
		switch n % 9 {
		case 0:
		case 1:
			w.Defer(vs, start.Add(time.Duration(n)*time.Second))
		case 2:
			w.Kill(vs, nil)
		default:
			w.Place(vs, ip(n%50), start)
		}
		w.Site(vs).SetOnDisk(uint64(n%3), 0)
	}
	visits := w.Acquire(start, nil, 20)
	for i := range visits[:len(visits)/2] {
		w.Release(&visits[i], Release{
			Unused: visits[i].Items, Park: i%2 == 0,
			SiteDue: start.Add(time.Minute), IPDue: start.Add(time.Second),
		}, start)
	}
	var b bytes.Buffer
	if err := save(w, &b, appendInt); err != nil {
		t.Fatal(err)
	}
	return w, b.Bytes()
}

func TestLoadRestoresASnapshot(t *testing.T) {
	w, snapshot := full(t, 5000)
	got, err := Load(Options{PathsPerVisit: 2}, readInt, bytes.NewReader(snapshot))
	if err != nil {
		t.Fatal(err)
	}
	check(t, got)
	a, b := w.Counts(), got.Counts()
	if a.Sites != b.Sites || a.Queued+a.InVisits != b.Queued || b.Leased != 0 || a.Waiting+a.Leased != b.Waiting ||
		a.Parked != b.Parked || a.Deferred != b.Deferred || a.Dead != b.Dead || a.IPs != b.IPs || a.Weight != b.Weight {
		t.Errorf("saved  %+v\nloaded %+v", a, b)
	}
	before, after := &w.contents.sites, &got.contents.sites
	for id := uint32(1); id <= before.records.last; id++ {
		x, y := before.at(id), after.at(id)
		if !bytes.Equal(before.keyOf(x), after.keyOf(y)) || x.data != y.data || x.onDisk != y.onDisk || x.due != y.due ||
			w.Site(before.handles.at(id)).Addr() != got.Site(after.handles.at(id)).Addr() {
			t.Fatalf("site %d came back as %+v", id, y)
		}
	}
	// No number of a Visit is used twice.
	v := got.Acquire(start.Add(time.Hour), nil, 1)
	if v[0].Lease <= w.contents.leases.lastID-1 {
		t.Error("lease", v[0].Lease, "after", w.contents.leases.lastID)
	}
	again, err := got.Snapshot(appendInt)
	if err != nil {
		t.Fatal(err)
	}
	again.Abandon()
	again.Abandon()
	if err := save(got, io.Discard, appendInt); err != nil {
		t.Error("after an abandoned cut:", err)
	}
}

// Load detects each changed byte and each truncation, and the error names the position.
func TestLoadNoticesDamage(t *testing.T) {
	_, snapshot := full(t, 60)
	load := func(b []byte) error {
		_, err := Load(Options{}, readInt, bytes.NewReader(b))
		return err
	}
	if err := load(snapshot); err != nil {
		t.Fatal(err)
	}
	for i := range snapshot {
		damaged := bytes.Clone(snapshot)
		damaged[i] ^= 0x41
		var corrupt *vfs.CorruptError
		if err := load(damaged); !errors.As(err, &corrupt) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if err := load(snapshot[:i]); !errors.As(err, &corrupt) || corrupt.Offset > int64(i) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

// Errors of a reader, a writer and the codec of the engine are returned.
func TestSnapshotReturnsErrors(t *testing.T) {
	w, snapshot := full(t, 3000)
	boom := errors.New("boom")
	if _, err := Load(Options{}, readInt, iotest.ErrReader(boom)); !errors.Is(err, boom) {
		t.Error(err)
	}
	if _, err := Load(Options{}, func([]byte) (int, error) { return 0, boom }, bytes.NewReader(snapshot)); !errors.Is(
		err,
		boom,
	) {
		t.Error(err)
	}
	if _, err := Load(Options{PathsPerVisit: -1, MemoryMax: -1}, readInt, bytes.NewReader(snapshot)); err == nil ||
		!strings.Contains(err.Error(), "PathsPerVisit") || !strings.Contains(err.Error(), "MemoryMax") {
		t.Error(err)
	}
	for room := range 5 {
		if err := save(w, &shortWriter{room: room}, appendInt); !errors.Is(err, io.ErrShortWrite) {
			t.Error("writes before the fault:", room, err)
		}
	}
	if err := save(w, io.Discard, appendInt); err != nil {
		t.Error("after failed ones:", err)
	}
	if got, err := Load(Options{}, readInt, iotest.OneByteReader(bytes.NewReader(snapshot))); err != nil ||
		got.Counts().Sites != 3000 {
		t.Error(err)
	}
}

// shortWriter fails after so many writes.
type shortWriter struct{ room int }

func (s *shortWriter) Write(b []byte) (int, error) {
	if s.room--; s.room < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// FuzzLoad never panics and never trusts a length, whatever the frames contain. The checksums are correct here.
func FuzzLoad(f *testing.F) {
	_, snapshot := full(f, 40)
	f.Add(payloads(snapshot))
	f.Add([]byte{recordHead, 0, 0, 0, recordEnd, 0, 0})
	f.Add([]byte{recordHead, 0, 1, 0, recordSite, 1, 1, 'k', 2, 0, 4, 1, 2, 3, 4, 0, 0, 0, 0, 0, recordEnd, 1, 1})
	f.Add([]byte{recordHead, 0, 255, 255, 255, 255, 15, 0, recordSite, 255, 255, 255, 255, 15, 0, 0, 0})
	f.Fuzz(func(t *testing.T, records []byte) {
		var b bytes.Buffer
		b.WriteString(frameMagic)
		if _, err := writeFrame(&b, records, true, new(uint64)); err != nil {
			t.Fatal(err)
		}
		w, err := Load(Options{}, readInt, &b)
		if err != nil {
			return
		}
		check(t, w)
		w.Acquire(start, nil, 10)
		var again bytes.Buffer
		if err := save(w, &again, appendInt); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(Options{}, readInt, &again); err != nil {
			t.Fatal("what was loaded and saved cannot be loaded:", err)
		}
	})
}

// payloads joins the payloads of the frames of a snapshot.
func payloads(snapshot []byte) (records []byte) {
	for b := snapshot[len(frameMagic):]; len(b) > 0; {
		n := int(binary.LittleEndian.Uint32(b))
		records = append(records, b[frameHeaderLen:frameHeaderLen+n]...)
		b = b[frameHeaderLen+n:]
	}
	return records
}

// save takes a full snapshot and writes it.
func save[S any](w *Workbench[S], out io.Writer, site func(dst []byte, s *S) []byte) error {
	s, err := w.Snapshot(site)
	if err != nil {
		return err
	}
	return s.Write(out)
}
