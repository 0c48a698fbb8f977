package fetch

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Package context calls AfterFunc while it holds a lock that the function takes, so AfterFunc must not call it itself.
// A dial that begins after the context has ended does not return before its function has asked the watch why: a later
// exchange gives the watch another context.
func TestWatchFunctionEndsBeforeTheDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var w watch
		w.undial = w.dialed
		w.follow(ctx)
		cancel()
		synctest.Wait() // the abort has run
		var cause error
		stop := w.AfterFunc(func() {
			time.Sleep(time.Second) // in virtual time
			cause = w.Err()
		})
		if stop() || cause == nil {
			t.Errorf("the dial ended first: cause %v", cause)
		}
		w.leave()
	})
}

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
