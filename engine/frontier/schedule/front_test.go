package schedule

import (
	"net/netip"
	"testing"
	"time"

	"orbweaver/internal/vfs"
)

// A front that was large is not counted again for frontPause. Then recountIn says when it can be.
func TestFront_isCountedWithPauses(t *testing.T) {
	r, now := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1), time.Now()
	f := NewFront(r.Workbench, 1, noneWaiting) // wants 2 addresses
	add := func(i byte, due time.Time) {
		vs, _ := r.Workbench.GetOrAdd([]byte{'h', i})
		r.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, i}), now)
		r.Workbench.Push(vs, path("/"))
		r.Workbench.Site(vs).Postpone(due, time.Time{})
	}
	add(1, now)
	add(2, now.Add(frontSoon+time.Hour))
	if !f.isSmall(now) {
		t.Fatal("one address is due soon, and two are wanted")
	}
	if wait := f.recountIn(now, time.Minute); wait != time.Minute {
		t.Errorf("it was counted, and is to be counted again in %v", wait)
	}
	add(3, now.Add(frontSoon/2))
	if f.isSmall(now) {
		t.Fatal("two addresses are due soon")
	}
	r.Workbench.Acquire(now, nil, 1)
	if f.isSmall(now.Add(frontPause / 2)) {
		t.Error("counted again at once")
	}
	if wait := f.recountIn(now.Add(frontPause/2), time.Minute); wait != frontPause/2 {
		t.Errorf("to be counted in %v, want %v", wait, frontPause/2)
	}
	if !f.isSmall(now.Add(frontPause)) {
		t.Error("not counted again after the pause")
	}
	f.noteNothingDue(true) // now more are wanted
	if !f.isSmall(now.Add(frontPause)) {
		t.Error("a larger front is wanted, and it was not counted")
	}
}
