package workbench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"orbweaver/internal/vfs"
)

// chain returns a full snapshot of some sites and two incremental ones.
func chain(t testing.TB, sites int) (w *Workbench[int], images [][]byte) {
	w, first := full(t, sites)
	images = append(images, first)
	for round := range 2 {
		now := start.Add(time.Duration(round+1) * time.Hour)
		for _, v := range w.Acquire(now, nil, 5) {
			w.Release(&v, Release{IPDue: now.Add(time.Minute), SiteDue: now.Add(time.Hour)}, now)
		}
		placed(w, fmt.Sprint("new", round), ip(100+round), "/")
		images = append(images, writeChanges(t, w))
	}
	return w, images
}

func writeChanges(t testing.TB, w *Workbench[int]) []byte {
	t.Helper()
	cut, err := w.Snapshot(appendInt)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := cut.WriteChanges(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func loadAll(images ...[]byte) (*Workbench[int], error) {
	return Load(Options{PathsPerVisit: 2}, readInt, readers(images)...)
}

// The cost of an incremental snapshot depends on the changes: of a thousand sites, only the three changed ones are
// encoded and written.
func TestIncrementalSnapshotHasOnlyChangedSites(t *testing.T) {
	w := New[int](Options{})
	for n := range 1000 {
		placed(w, fmt.Sprint(n), ip(n), "/1")
	}
	if err := save(w, io.Discard, appendInt); err != nil {
		t.Fatal(err)
	}
	w.Push(w.contents.sites.handles.at(7), []byte("/2"))
	w.Site(w.contents.sites.handles.at(900)).SetOnDisk(5, 0)
	placed(w, "new", ip(1), "/1")
	for n := uint32(100); n < 110; n++ {
		if !w.Site(w.contents.sites.handles.at(n)).Read(func(*int) {}) { // which changes nothing
			t.Fatal("leased")
		}
	}
	asked := 0
	cut, err := w.Snapshot(func(dst []byte, n *int) []byte { asked++; return appendInt(dst, n) })
	if err != nil {
		t.Fatal(err)
	}
	w.Push(w.contents.sites.handles.at(8), []byte("/behind the cut"))
	var b bytes.Buffer
	if err := cut.WriteChanges(&b); err != nil {
		t.Fatal(err)
	}
	if asked > 4 || b.Len() > 400 { // the fourth site changed before it was known that the snapshot is incremental
		t.Errorf("%d sites were asked for their form, and %d bytes written", asked, b.Len())
	}
	if next := writeChanges(t, w); len(next) > 200 {
		t.Errorf("%d bytes for one push", len(next))
	}
	if nothing := writeChanges(t, w); len(nothing) > 60 {
		t.Errorf("%d bytes for nothing", len(nothing))
	}
}

// Load detects each changed byte and names the snapshot that contains it. It also detects a snapshot that is missing,
// repeated, in a wrong position, or from another chain.
func TestLoadNoticesDamageInAChain(t *testing.T) {
	_, images := chain(t, 40)
	if _, err := loadAll(images...); err != nil {
		t.Fatal(err)
	}
	var corrupt *vfs.CorruptError
	for i := range images {
		for at := range images[i] {
			damaged := append([][]byte(nil), images...)
			damaged[i] = bytes.Clone(images[i])
			damaged[i][at] ^= 0x41
			if _, err := loadAll(damaged...); !errors.As(err, &corrupt) || corrupt.Index != i {
				t.Fatalf("byte %d of image %d changed: %v", at, i, err)
			}
		}
	}
	_, others := chain(t, 41)
	for _, wrong := range [][][]byte{
		{images[0], images[2]}, {images[0], images[2], images[1]}, {images[0], images[1], images[1]}, {images[1]},
		{images[0], images[0]}, {others[0], images[1]},
	} {
		if _, err := loadAll(wrong...); !errors.As(err, &corrupt) {
			t.Errorf("%d images that do not belong together: %v", len(wrong), err)
		}
	}
	if _, err := loadAll(); err == nil {
		t.Error("no image at all")
	}
}

// After an incomplete snapshot, the next one is full. The same holds after a step of the wall clock.
func TestWhenASnapshotMustBeFull(t *testing.T) {
	w, _ := full(t, 50)
	must := func(what string, want bool) {
		t.Helper()
		cut, err := w.Snapshot(appendInt)
		if err != nil {
			t.Fatal(err)
		}
		if cut.Whole() != want {
			t.Errorf("%s: whole: %v", what, cut.Whole())
		}
		if cut.Whole() {
			err = cut.Write(io.Discard)
		} else {
			err = cut.WriteChanges(io.Discard)
		}
		if err != nil {
			t.Fatal(err)
		}
		cut.Abandon() // has no effect after a complete write
	}
	must("after a whole image", false)
	cut, err := w.Snapshot(appendInt)
	if err != nil {
		t.Fatal(err)
	}
	cut.Abandon()
	must("after an abandoned cut", true)
	must("after that", false)
	if cut, err = w.Snapshot(appendInt); err != nil {
		t.Fatal(err)
	}
	if err := cut.WriteChanges(&shortWriter{}); !errors.Is(err, io.ErrShortWrite) {
		t.Fatal(err)
	}
	must("after changes that were not written", true)
	w.contents.clock.skew += 2 * skewMax
	must("after a step of the clock", true)
	must("after that", false)
}

// Changes can follow a loaded workbench in the same way as the workbench that was saved.
func TestChangesFollowALoadedWorkbench(t *testing.T) {
	_, images := chain(t, 60)
	w, err := loadAll(images...)
	if err != nil {
		t.Fatal(err)
	}
	vs := w.Get([]byte("http://new1"))
	w.Push(vs, []byte("/more"))
	images = append(images, writeChanges(t, w))
	again, err := loadAll(images...)
	if err != nil {
		t.Fatal(err)
	}
	check(t, again)
	if n := again.Site(again.Get([]byte("http://new1"))).Queued(); n != 2 {
		t.Errorf("%d items, should be 2", n)
	}
}

// Load does not panic for any chain, whatever the frames contain.
func FuzzLoadChanges(f *testing.F) {
	_, images := chain(f, 20)
	f.Add(payloads(images[1]))
	f.Add(payloads(images[2]))
	f.Fuzz(func(t *testing.T, records []byte) {
		var b bytes.Buffer
		b.WriteString(frameMagic)
		if _, err := writeFrame(&b, records, true, new(uint64)); err != nil {
			t.Fatal(err)
		}
		w, err := loadAll(images[0], b.Bytes())
		if err == nil {
			check(t, w)
		}
		_, _ = LoadSites(Options{}, [][]byte{[]byte("http://new1")}, readInt, seekers([][]byte{images[0], b.Bytes()})...)
	})
}
