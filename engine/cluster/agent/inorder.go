package agent

import (
	"sync"
	"time"

	"github.com/zeebo/xxh3"
)

// inOrder are the sites that came from whoever had them, since the circle turned: that one asks them for nothing any
// more, so that they need no rest beyond what it said. That is noted here as well as in the workbench, since a Visit
// that was out when it came does not know it.
type inOrder struct {
	mu  sync.Mutex
	due map[uint64]time.Time // guarded by mu: by hashes of their keys
}

// inOrderMost bounds them. Others rest.
const inOrderMost = 1 << 20

func (o *inOrder) add(site []byte, due time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.due == nil {
		o.due = make(map[uint64]time.Time)
	}
	if len(o.due) < inOrderMost {
		o.due[xxh3.Hash(site)] = due
	}
}

// get is when a site may be asked that came in order.
func (o *inOrder) get(site []byte) (due time.Time, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	due, ok = o.due[xxh3.Hash(site)]
	return due, ok
}

func (o *inOrder) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.due = nil
}
