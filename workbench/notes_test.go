package workbench

import (
	"bytes"
	"testing"
	"time"
)

// The next Visit to an IP, of any site, gets the note of the last one. Notes survive full and incremental snapshots.
// The note is lost together with the entry of the IP.
func TestNoteIsKeptAsLongAsTheDueTimeOfTheIP(t *testing.T) {
	w := New[int](Options{})
	for _, key := range []string{"http://a", "http://b"} {
		vs, _ := w.GetOrAdd([]byte(key))
		w.Place(vs, ip(1), start)
		for range 4 {
			w.Push(vs, []byte("/"))
		}
	}
	now := start
	visit := func(w *Workbench[int], want, next uint32) {
		t.Helper()
		v := w.Acquire(now, nil, 1)
		if len(v) != 1 || v[0].IPNote != want {
			t.Fatalf("%+v, should have the note %#x", v, want)
		}
		v[0].IPNote = next
		now = now.Add(time.Minute)
		w.Release(&v[0], Release{Unused: v[0].Items[1:], SiteDue: now.Add(time.Second), IPDue: now}, now)
	}
	visit(w, 0, 0xabcdef)
	var whole bytes.Buffer
	if err := save(w, &whole, appendInt); err != nil {
		t.Fatal(err)
	}
	visit(w, 0xabcdef, 0x123456)
	changes := writeChanges(t, w)
	for _, c := range []struct {
		images [][]byte
		want   uint32
	}{{[][]byte{whole.Bytes()}, 0xabcdef}, {[][]byte{whole.Bytes(), changes}, 0x123456}} {
		got, err := loadAll(c.images...)
		if err != nil {
			t.Fatal(err)
		}
		check(t, got)
		now = now.Add(time.Hour)
		visit(got, c.want, 0)
		visit(got, 0, 0)
	}
	for _, key := range []string{"http://a", "http://b"} {
		w.Kill(w.Get([]byte(key)), nil)
	}
	now = now.Add(time.Hour)
	w.Acquire(now, nil, 1) // removes vacant entries
	w.Revive(w.Get([]byte("http://a")))
	w.Place(w.Get([]byte("http://a")), ip(1), now)
	w.Push(w.Get([]byte("http://a")), []byte("/"))
	visit(w, 0, 0)
}

// A Visit contains the due time of the next other site of its IP, so that its holder knows whether another Visit
// follows.
func TestVisitHasTheDueTimeOfTheNextSite(t *testing.T) {
	w := New[int](Options{})
	now := start
	sites := map[string]*VisitState[int]{}
	add := func(key string) {
		vs, _ := w.GetOrAdd([]byte(key))
		w.Place(vs, ip(1), now)
		w.Push(vs, []byte("/"))
		sites[key] = vs
	}
	visit := func(wait time.Duration) (next time.Time) {
		t.Helper()
		v := w.Acquire(now, nil, 1)
		if len(v) != 1 {
			t.Fatal("nobody is due")
		}
		w.Release(&v[0], Release{Unused: v[0].Items, SiteDue: now.Add(wait), IPDue: now.Add(time.Second)}, now)
		now = now.Add(time.Second)
		return v[0].NextDue
	}
	add("http://a")
	if next := visit(10 * time.Second); !next.IsZero() {
		t.Errorf("there is no other site, and the next is due %v", next.Sub(start))
	}
	add("http://b")
	if next := visit(20 * time.Second); !next.Equal(start.Add(10 * time.Second)) {
		t.Errorf("b was visited, and the next is due %v, not 10 s", next.Sub(start))
	}
	add("http://c")
	add("http://d")
	if next := visit(time.Minute); next.IsZero() || next.After(now) {
		t.Errorf("one that was never visited waits, and the next is due %v", next.Sub(start))
	}
}
