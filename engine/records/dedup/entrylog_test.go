package dedup

import (
	"errors"
	"sync"
	"syscall"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

func newLog(t *testing.T, fsys vfs.FS, mu *sync.Mutex) *entryLog {
	t.Helper()
	must(t, fsys.MkdirAll(small.Dir))
	l := &entryLog{mu: mu, writeBytes: 400}
	l.idle.L = mu
	_, err := l.create(fsys, small.Dir)
	must(t, err)
	t.Cleanup(func() { must(t, l.file.Close()) })
	return l
}

// An entry has the same offset before and after it is written, also if the first write fails.
func TestEntryLogReadsFromBufferAndFile(t *testing.T) {
	var mu sync.Mutex
	script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Write, Count: 1, Err: syscall.ENOSPC})
	l := newLog(t, faultfs.New(vfs.NewMem(1), script), &mu)
	mu.Lock()
	defer mu.Unlock()
	var offsets []int64
	for i := uint64(0); i < 40 || len(l.buf) == 0; i++ {
		f := firstOf(i)
		offsets = append(offsets, l.end())
		l.append(digestOf(i), &f)
	}
	if l.writeErrors != 1 || l.written == 0 || len(l.buf) == 0 {
		t.Fatalf("%d failed writes, %d bytes written, %d in the buffer", l.writeErrors, l.written, len(l.buf))
	}
	for i, at := range offsets {
		d, f, err := l.read(new(probe), at)
		must(t, err)
		if d != digestOf(uint64(i)) || f != firstOf(uint64(i)) {
			t.Errorf("the entry at byte %d is another one: %+v", at, f)
		}
	}
	if _, _, err := l.read(new(probe), l.end()); !errors.Is(err, vfs.ErrCorrupt) {
		t.Errorf("read behind the last entry: %v", err)
	}
}

// open refuses a file that is shorter than the checkpoint and leaves it; truncate removes what follows the checkpoint.
func TestEntryLogOpensAtTheCut(t *testing.T) {
	var mu sync.Mutex
	disk := vfs.NewMem(1)
	l := newLog(t, disk, &mu)
	mu.Lock()
	defer mu.Unlock()
	f := firstOf(1)
	l.append(digestOf(1), &f)
	must(t, l.write())
	length := l.written
	l.append(digestOf(2), &f)
	must(t, l.write())

	again := &entryLog{mu: &mu}
	if _, err := again.open(disk, small.Dir, l.written+1); !errors.Is(err, vfs.ErrCorrupt) {
		t.Fatalf("a file that is too short: %v", err)
	}
	must(t, again.file.Close())
	_, err := again.open(disk, small.Dir, length)
	must(t, err)
	must(t, again.truncate())
	if size, _ := disk.Size(entriesFile); size != length || again.end() != length {
		t.Errorf("%d bytes, the next entry at %d; the checkpoint has %d", size, again.end(), length)
	}
	must(t, again.file.Close())
}
