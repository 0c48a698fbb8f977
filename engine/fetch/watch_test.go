package fetch

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
)

// Package context calls AfterFunc while it holds a lock that the function takes, so AfterFunc must not call it itself.
func TestWatchCallsNoFunctionWithinAfterFunc(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var w watch
		w.undial = w.dialed
		w.follow(ctx)
		cancel()
		synctest.Wait() // the abort has run
		var lock sync.Mutex
		called := false
		lock.Lock()
		stop := w.AfterFunc(func() {
			lock.Lock()
			called = true
			lock.Unlock()
		})
		lock.Unlock()
		synctest.Wait()
		if stop() || !called {
			t.Errorf("called: %v", called)
		}
	})
}
