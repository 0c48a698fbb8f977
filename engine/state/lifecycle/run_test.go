package lifecycle

import (
	"errors"
	"testing"
)

// The first reason to end counts, and the state does not change before the run has ended.
func TestRun_theFirstReasonCounts(t *testing.T) {
	r := NewRun()
	if r.IsStopping() {
		t.Fatal("a new run is stopping")
	}
	r.Finish(ReasonMaxPages)
	r.Finish(ReasonSignal)
	<-r.Stopping()
	if state, reason := r.State(); state != Running || reason != ReasonMaxPages || !r.IsStopping() {
		t.Errorf("%s: %s", state, reason)
	}
	r.ReplaceReason(ReasonLeft, ReasonLost)
	r.ReplaceReason(ReasonMaxPages, ReasonSignal)
	if _, reason := r.State(); reason != ReasonSignal {
		t.Error(reason)
	}
	r.SetState(Finished, ReasonMaxPages)
	if state, reason := r.State(); state != Finished || reason != ReasonMaxPages {
		t.Errorf("%s: %s", state, reason)
	}
}

// Abort ends the run, cancels the exchanges, and keeps the error that was its cause.
func TestRun_abortKeepsItsCause(t *testing.T) {
	r, lost, cancelled := NewRun(), errors.New("lost"), 0
	r.Abort(ReasonLost, lost) // nothing runs yet
	r.OnAbort(func() { cancelled++ })
	r.Abort(ReasonSignal, nil)
	if _, reason := r.State(); reason != ReasonLost || cancelled != 1 || !errors.Is(r.Cause(), lost) {
		t.Errorf("%s, cancelled %d times, cause %v", reason, cancelled, r.Cause())
	}
}
