package diskq

import "sync"

// callLock is the lock of a Queue. A call that does I/O frees it meanwhile, and the others wait on a condition. So
// waiting works in virtual time.
type callLock struct {
	mu          sync.Mutex
	idle        sync.Cond // signalled when busy or maintaining ends
	busy        bool      // a call does I/O on the state of the Queue
	maintaining bool      // a Sync, Release or Close runs
	closed      bool
}

// lock takes the lock for a call.
func (c *callLock) lock() error {
	c.lockIdle()
	if c.closed {
		c.mu.Unlock()
		return ErrClosed
	}
	return nil
}

// lockIdle takes the lock when no call does I/O, also of a closed Queue.
func (c *callLock) lockIdle() {
	c.mu.Lock()
	for c.busy {
		c.idle.Wait()
	}
}

func (c *callLock) unlock() { c.mu.Unlock() }

// unlocked runs I/O on the state with the lock free, while no other call can use the state. The caller holds the lock.
func (c *callLock) unlocked(io func() error) error {
	c.busy = true
	c.mu.Unlock()
	err := io()
	c.mu.Lock()
	c.busy = false
	c.idle.Broadcast()
	return err
}

// lockMaintenance waits until no Sync, Release or Close runs, and takes the lock. Until unlockMaintenance it keeps
// others out, even while the lock is free.
func (c *callLock) lockMaintenance() error {
	c.mu.Lock()
	for c.busy || c.maintaining {
		c.idle.Wait()
	}
	if c.closed {
		c.mu.Unlock()
		return ErrClosed
	}
	c.maintaining = true
	return nil
}

func (c *callLock) unlockMaintenance() {
	c.maintaining = false
	c.idle.Broadcast()
	c.mu.Unlock()
}
