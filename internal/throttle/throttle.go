package throttle

import "time"

// Every is the shortest time between two messages of one Log.
const Every = 10 * time.Minute

// Log limits equal messages: the first is logged, and then one per Every. The zero value is ready. It is not safe for
// concurrent use.
type Log struct {
	last  time.Time // of the last message; zero if there was none
	count int       // messages since then
}

// Allow counts a message and reports whether to log it. n is then the number of messages since the last logged one,
// including this one.
func (l *Log) Allow(now time.Time) (n int, ok bool) {
	l.count++
	if !l.last.IsZero() && now.Sub(l.last) < Every {
		return l.count, false
	}
	n, l.count, l.last = l.count, 0, now
	return n, true
}
