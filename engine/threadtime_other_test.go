//go:build !linux

package engine

import (
	"testing"
	"time"
)

// threadTime is the time of day, where that of a thread cannot be had.
func threadTime(testing.TB) time.Duration { return time.Duration(time.Now().UnixNano()) }
