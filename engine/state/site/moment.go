package site

import "time"

// Moment is a time in four bytes: milliseconds modulo 49 days. The zero value is no time.
type Moment uint32

// MomentOf is the Moment of a time.
func MomentOf(t time.Time) Moment { return max(Moment(t.UnixMilli()), 1) }

// Until is how long it is from a Moment to a time; false if the Moment is none.
func (m Moment) Until(t time.Time) (time.Duration, bool) {
	return time.Duration(Moment(t.UnixMilli())-m) * time.Millisecond, m != 0
}
