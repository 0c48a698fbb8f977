package operator

import (
	"strings"
	"sync"
	"testing"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/operate/doctor"
	"orbweaver/internal/vfs/faultfs"
)

// slowCalls makes calls of the disk take a time. wait returns after so many of them.
func slowCalls(op faultfs.Op, name string, takes time.Duration, enough int) (rules []faultfs.Rule, wait func()) {
	reached, calls := make(chan struct{}), 0
	var mu sync.Mutex
	count := func(string) {
		mu.Lock()
		defer mu.Unlock()
		if calls++; calls == enough {
			close(reached)
		}
	}
	return []faultfs.Rule{{Op: op, Name: name, Delay: takes, Then: count}}, func() { <-reached }
}

// Each write takes 150 ms: the disk limits the crawl, and not the processor, though the parse workers are behind. This
// runs in real time, since in virtual time no goroutine may wait at the lock of the journal.
func TestDoctorNamesASlowDisk(t *testing.T) {
	i := illness{web: testbed.OutageWeb{Sites: 60, Pages: 200}, change: fast}
	i.faults, i.wait = slowCalls(faultfs.Write, "*.open", 150*time.Millisecond, 12)
	all := i.crawl(t)
	if first := all[0]; first.Cause != doctor.SlowDisk || !strings.Contains(first.Text, "a write takes ") {
		t.Errorf("%+v", all)
	}
}
