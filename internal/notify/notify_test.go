package notify

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestSend_neverBlocks(t *testing.T) {
	c := make(chan struct{}, 1)
	Send(c)
	Send(c)
	<-c
	if len(c) != 0 {
		t.Error("two signals in the channel")
	}
}

func TestSleep_endsAtItsTimeOrWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		Sleep(t.Context(), time.Hour)
		if slept := time.Since(begun); slept != time.Hour {
			t.Error(slept)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begun = time.Now()
		Sleep(ctx, time.Hour)
		if slept := time.Since(begun); slept != time.Minute {
			t.Error(slept)
		}
	})
}
