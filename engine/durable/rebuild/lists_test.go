package rebuild

import (
	"testing"

	"orbweaver/engine/records/dedup"
	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

func newLists(t *testing.T) *lists {
	t.Helper()
	l, err := openLists(vfs.NewMem(1), "lists")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// addResponse notes a response with that record id and payload, whose place has the same number.
func addResponse(t *testing.T, l *lists, id, payload byte) {
	t.Helper()
	rec := warc.RecordRead{ID: warc.ID{id}, PayloadDigest: &[20]byte{payload}}
	if err := l.addPayload(&rec, warc.Position{Serial: uint32(id), Offset: 10, Length: 20}); err != nil {
		t.Fatal(err)
	}
}

// Two responses have one payload, a third has another: a revisit resolves to the records that have its payload, and
// to no other.
func TestLists_resolveTheRecordsOfAPayload(t *testing.T) {
	l := newLists(t)
	addResponse(t, l, 1, 7)
	addResponse(t, l, 2, 7)
	addResponse(t, l, 3, 8)
	for _, c := range []struct {
		payload, id byte
		want        bool
	}{{7, 1, true}, {7, 2, true}, {7, 3, false}, {8, 3, true}, {8, 1, false}, {7, 4, false}, {9, 1, false}} {
		got, err := l.resolve(dedup.Digest{c.payload}, warc.ID{c.id}, false)
		if err != nil || got != c.want {
			t.Errorf("payload %d of record %d: %v, %v", c.payload, c.id, got, err)
		}
	}
	at, ok, err := l.placeOf(dedup.Digest{7})
	if want := (warc.Position{Serial: 1, Offset: 10, Length: 20}); err != nil || !ok || at != want {
		t.Errorf("place of the payload: %v, %v, %v", at, ok, err)
	}
	if _, ok, err := l.placeOf(dedup.Digest{9}); err != nil || ok {
		t.Errorf("place of a payload that is not there: %v, %v", ok, err)
	}
}

// Revisits name the second record of a payload as the first: payload deduplication must name it, too.
func TestLists_theRecordThatRevisitsNameIsTheFirst(t *testing.T) {
	l := newLists(t)
	addResponse(t, l, 1, 7)
	addResponse(t, l, 2, 7)
	mayBeFirst := func(id byte) bool {
		t.Helper()
		ok, err := l.mayBeFirst(dedup.Digest{7}, warc.ID{id})
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if !mayBeFirst(1) || !mayBeFirst(2) {
		t.Error("before any revisit each may be the first")
	}
	if ok, err := l.resolve(dedup.Digest{7}, warc.ID{2}, true); err != nil || !ok {
		t.Fatal(ok, err)
	}
	if mayBeFirst(1) || !mayBeFirst(2) {
		t.Error("the record that a revisit names is not the first")
	}
}

// Of five attempts after which a crawl may try again, the second and the last were the last ones of their URLs.
func TestLastTries_areToldInOrder(t *testing.T) {
	l := newLists(t)
	for _, number := range []uint64{4, 1} {
		if err := l.final.Add(extsort.Entry{Hi: number}); err != nil {
			t.Fatal(err)
		}
	}
	next, stop := pull(l.final)
	defer stop()
	tries := lastTries{next: next}
	if err := tries.advance(); err != nil {
		t.Fatal(err)
	}
	for number, want := range []bool{false, true, false, false, true, false} {
		if got, err := tries.takeNext(); err != nil || got != want {
			t.Errorf("attempt %d: %v, %v", number, got, err)
		}
	}
}
