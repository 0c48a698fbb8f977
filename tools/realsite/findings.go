package main

import (
	"fmt"
	"time"
)

// findings is what a run has found wrong so far.
type findings struct {
	started  time.Time
	failures []string
}

func (r *findings) say(format string, args ...any) {
	fmt.Printf("realsite: %4.0f s: %s\n", time.Since(r.started).Seconds(), fmt.Sprintf(format, args...))
}

// fail notes that something does not hold; the run goes on.
func (r *findings) fail(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
	r.say("FAILED: %s", r.failures[len(r.failures)-1])
}
