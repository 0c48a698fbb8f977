package virtualize

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"orbweaver/internal/vfs"
)

// The recorded changes, reversed from the last to the first, restore the table of the last snapshot.
func TestRelocations_changesCanBeReversed(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var r relocations
	all := func() map[address]address {
		m := map[address]address{}
		for _, table := range r.tables {
			maps.Copy(m, table)
		}
		return m
	}
	random := func(n int) (sum int) {
		for range n {
			born, now := makeAddress(1, rng.Uint32N(50)), makeAddress(2, rng.Uint32N(3))
			if rng.IntN(3) == 0 {
				now = 0
			}
			sum += r.change(born, now)
		}
		return sum
	}
	if sum := random(200); sum != r.count || sum != len(all()) {
		t.Fatalf("the changes add up to %d, the table counts %d and has %d", sum, r.count, len(all()))
	}
	before, older := all(), r.takeChanged()
	random(100)
	newer := slices.Clone(r.changed)
	r.adopt(older)
	if !slices.Equal(r.changed, slices.Concat(older, newer)) {
		t.Fatal("adopted changes are not before the newer ones")
	}
	for _, m := range slices.Backward(newer) {
		r.set(m.born, m.before)
	}
	if !maps.Equal(all(), before) {
		t.Fatal("the reversed changes do not restore the table")
	}
}

func TestCodebook_hasOneCodeForEachModel(t *testing.T) {
	b := newCodebook()
	if b.of(firstModel()) != b.first || b.next != b.first {
		t.Fatal("the first model has several codes")
	}
	if b.of(&model{}) != nil {
		t.Fatal("a model without lengths has codes")
	}
	// Segments 1, 3 and 7 are counted; 2, 4 and 8 start with a new model, as far as items were written before.
	rng := rand.New(rand.NewPCG(1, 3))
	var p packer
	learned := []uint32{}
	for number := uint32(1); number <= 8; number++ {
		before := b.next
		if c := b.forSegment(number, &p); c != before {
			learned = append(learned, number)
		}
		p.begin(b.next)
		for range 100 {
			p.add([]byte{'/', byte('a' + number), byte('0' + rng.IntN(10))}) // another model for each
		}
		if counted := p.seen != nil; counted != (number == 1 || number == 3 || number == 7) {
			t.Fatalf("segment %d is counted: %v", number, counted)
		}
	}
	if !slices.Equal(learned, []uint32{2, 4, 8}) {
		t.Fatalf("new models for segments %v", learned)
	}
}

// A queue is copied before its first change after the snapshot, and no queue is without a snapshot.
func TestImage_copiesAQueueOnce(t *testing.T) {
	q := newQueues(vfs.NewMem(1), Options{Dir: "v"}.WithDefaults())
	must(t, q.append(7, []byte("old")))
	if len(q.image.copiedEarly) > 0 {
		t.Fatal("copied without a snapshot")
	}
	q.image = image{open: true, entryCount: q.idx.made}
	q.image.queues, _ = q.changes.begin()
	must(t, q.append(7, []byte("new")))
	once := len(q.image.copiedEarly)
	must(t, q.append(7, []byte("newer")))
	must(t, q.append(8, []byte("a new queue")))
	if once == 0 || len(q.image.copiedEarly) != once {
		t.Fatalf("%d bytes were copied, then %d", once, len(q.image.copiedEarly))
	}
	id, _ := q.idx.find(8)
	if q.image.mustCopy(id) || !q.changes.queues.has(id) {
		t.Fatal("a queue after the snapshot belongs to the next one")
	}
	q.changes.queues = make(set, len(q.changes.queues))
	q.changes.adopt(set{1 << 5}, []uint64{3})
	if !q.changes.queues.has(5) || !slices.Equal(q.changes.deleted, []uint64{3}) {
		t.Fatal("the changes of an abandoned snapshot are lost")
	}
}

// Only a released checkpoint makes older index files removable (V3).
func TestCheckpoints_releaseOlderIndexFiles(t *testing.T) {
	c := newCheckpoints("v")
	for generation, base := range []bool{1: true, 2: false, 3: true, 4: true} {
		if generation > 0 {
			c.addWritten(uint64(generation), base, 100, 1)
		}
	}
	if c.file.base != 4 || c.unsynced.index != indexName("v", 4) {
		t.Fatalf("the current file is %+v", c.file)
	}
	for _, step := range []struct {
		cut  Checkpoint
		gone []uint64
	}{
		{Checkpoint{Generation: 2, Base: 1}, nil},
		{Checkpoint{Generation: 3, Base: 3}, []uint64{1}},
		{Checkpoint{Generation: 2, Base: 1}, nil},
		{Checkpoint{Generation: 4, Base: 4}, []uint64{3}},
	} {
		if gone, err := c.release(step.cut); err != nil || !slices.Equal(gone, step.gone) {
			t.Fatalf("%+v: %v %v, want %v", step.cut, gone, err, step.gone)
		}
	}
	if _, err := c.release(Checkpoint{Generation: 5, Base: 4}); err == nil || c.released != 4 {
		t.Fatal("a checkpoint was released that was never written")
	}
}

// A segment is deleted only if it is not active, has no live bytes, is not being synced, and no checkpoint from the
// released one on names it (V3).
func TestSegmentList_takesOnlyDeadSegments(t *testing.T) {
	l := newSegmentList(vfs.NewMem(1), Options{Dir: "v", SegmentBytes: 8192})
	must(t, l.fsys.MkdirAll("v"))
	book := newCodebook()
	for range 5 {
		_, err := l.create(book.first)
		must(t, err)
	}
	l.byNumber[1].named = 2
	l.byNumber[2].live = 1
	unsynced := newCheckpoints("v")
	unsynced.addUnsynced(l.byNumber[3])
	work := unsynced.takeUnsynced()
	numbers := func(dead []*segment) (n []uint32) {
		for _, s := range dead {
			n = append(n, s.number)
			must(t, l.removeFile(s))
		}
		return n
	}
	if dead := numbers(l.takeDead(2)); !slices.Equal(dead, []uint32{4}) {
		t.Fatalf("%v were deleted, want 4", dead)
	}
	unsynced.endSync(work, true)
	if _, repeated := unsynced.unsynced.segments[l.byNumber[3]]; !repeated {
		t.Fatal("a repeated sync has no segment")
	}
	if dead := numbers(l.takeDead(3)); !slices.Equal(dead, []uint32{1, 3}) {
		t.Fatalf("%v were deleted, want 1 and 3", dead)
	}
	must(t, l.close())
}

func TestCollector_choosesTheSegmentWithTheFewestLiveBytes(t *testing.T) {
	l := segmentList{byNumber: make([]*segment, 6)}
	for n, live := range []int64{1: 700, 2: 400, 3: 100, 4: 300, 5: 50} {
		if n > 0 {
			l.byNumber[n] = &segment{number: uint32(n), data: make([]byte, 1000), live: live}
		}
	}
	l.byNumber[3].bad = true
	l.active = l.byNumber[5]
	c := collector{liveRatioMin: 0.6}
	if !c.choose(&l) || c.victim != l.byNumber[4] {
		t.Fatalf("chose %+v", c.victim)
	}
	c.forget(l.byNumber[4])
	l.byNumber[2].live, l.byNumber[4].live = 0, 0
	if c.choose(&l) {
		t.Fatalf("chose segment %d, which is not worth it", c.victim.number)
	}
}
