package cold

import "testing"

// A record is found in memory until its chunk is in a file. Records that come during the write go into a new chunk.
func TestARecordIsInMemoryUntilItIsWritten(t *testing.T) {
	l := recordLog{segmentBytes: 1 << 10, head: Position{1, segmentHead}, tail: Position{1, 0}}
	first, size := l.append(kindHost, []byte("a"), []byte("form"))
	if work := l.seal(); len(work) != 1 || l.inMemory(first) == nil || l.buffered != segmentHead+int(size) {
		t.Fatalf("%d chunks, %d bytes", len(work), l.buffered)
	}
	second, _ := l.append(kindHost, []byte("b"), []byte("form"))
	if l.removeFirst(); l.inMemory(first) != nil || l.inMemory(second) == nil || l.buffered != int(size) {
		t.Fatalf("%d bytes are buffered", l.buffered)
	}
	if l.position(placeOf(second)) != second {
		t.Errorf("%v, want %v", l.position(placeOf(second)), second)
	}
}

// The first file is complete when the log continues in another one and nothing of it is in memory.
func TestTheHeadIsCompleteWhenItsFileIsWritten(t *testing.T) {
	l := recordLog{segmentBytes: 64, head: Position{1, segmentHead}, tail: Position{1, 0}}
	for l.filesBehindHead() == 0 {
		l.append(kindHost, []byte("key"), make([]byte, 30))
	}
	if l.headComplete() {
		t.Error("complete while a chunk is in memory")
	}
	for len(l.chunks) > 0 && l.chunks[0].from.Segment == 1 {
		l.removeFirst()
	}
	if !l.headComplete() {
		t.Error("not complete after its chunks were written")
	}
	if l.skipFile(); l.headComplete() || l.head != (Position{2, segmentHead}) {
		t.Errorf("the head is at %v", l.head)
	}
}
