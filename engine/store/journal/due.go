package journal

import "time"

// DueMax is longer than any wait of a site: a longer one in a journal is damage.
const DueMax = 48 * time.Hour

// DueIn is how long it is until t, as an Entry holds it: 0 for the zero time.
func DueIn(t time.Time) (nanos int64) {
	if t.IsZero() {
		return 0
	}
	return int64(max(time.Until(t), 1))
}

// DueAt converts it back, counted from now.
func DueAt(now time.Time, nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return now.Add(min(max(time.Duration(nanos), 0), DueMax))
}
