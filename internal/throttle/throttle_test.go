package throttle

import (
	"testing"
	"time"
)

// A thousand equal messages in an hour leave a line each ten minutes, which says how many there were.
func TestAllow_logsOneMessageAndCountsTheOthers(t *testing.T) {
	var l Log
	now := time.Unix(1000, 0)
	lines, sum := 0, 0
	for range 1000 {
		if n, ok := l.Allow(now); ok {
			lines, sum = lines+1, sum+n
		}
		now = now.Add(3600 * time.Millisecond)
	}
	if lines != 6 || sum < 830 || sum > 1000 {
		t.Errorf("%d lines for %d messages", lines, sum)
	}
}
