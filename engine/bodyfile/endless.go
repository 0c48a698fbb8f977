package bodyfile

import (
	"sync"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// endlessMost is how many hosts are remembered. Then all are forgotten, and each of them costs one long body again.
const endlessMost = 1 << 16

// EndlessHosts are the hosts that have sent a body without an end: one that was longer than the limit, and whose length
// was not declared or was declared to be longer. It is safe for concurrent use, and lasts as long as the process.
type EndlessHosts struct {
	count atomic.Int64
	mu    sync.Mutex
	hosts map[xxh3.Uint128]struct{}
}

// Add adds a host.
func (e *EndlessHosts) Add(host []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.hosts == nil || len(e.hosts) >= endlessMost {
		e.hosts = make(map[xxh3.Uint128]struct{})
	}
	e.hosts[xxh3.Hash128(host)] = struct{}{}
	e.count.Store(int64(len(e.hosts)))
}

// Has reports whether a host was added.
func (e *EndlessHosts) Has(host []byte) bool {
	if e.count.Load() == 0 {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	_, ok := e.hosts[xxh3.Hash128(host)]
	return ok
}
