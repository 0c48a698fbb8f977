package limits

import (
	"fmt"
	"time"

	"orbweaver/internal/options"
)

// Term is how long a crawl may run: a length of time, all runs together, or a date. The zero value is no limit.
type Term struct {
	Length time.Duration // 0 for no limit
	Date   time.Time     // zero for no limit
}

// For is a Term of a length.
func For(length time.Duration) Term { return Term{Length: length} }

// left is how long a crawl may go on that has run for some time; false if there is no limit.
func (t Term) left(wall time.Duration) (time.Duration, bool) {
	if !t.Date.IsZero() {
		return time.Until(t.Date), true
	}
	return t.Length - wall, t.Length > 0
}

// isOver reports whether a crawl that has run for some time has reached its end.
func (t Term) isOver(wall time.Duration) bool {
	left, limited := t.left(wall)
	return limited && left <= 0
}

// IsPast reports whether the Term is a date that has passed.
func (t Term) IsPast() bool { return !t.Date.IsZero() && t.isOver(0) }

// String is what UnmarshalText reads. A date has its zone, so that it means the same on another machine.
func (t Term) String() string {
	switch {
	case !t.Date.IsZero():
		return t.Date.Format(time.RFC3339)
	default:
		return options.FormatDuration(t.Length)
	}
}

// UnmarshalText implements encoding.TextUnmarshaler. A date without a time is its beginning, and one without a zone is
// of the zone of this machine.
func (t *Term) UnmarshalText(text []byte) error {
	for _, form := range []string{
		time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04", time.DateTime,
		"2006-01-02T15:04Z07:00", time.RFC3339, "2006-01-02 15:04Z07:00", "2006-01-02 15:04:05Z07:00",
	} {
		if date, err := time.ParseInLocation(form, string(text), time.Local); err == nil {
			*t = Term{Date: date}
			return nil
		}
	}
	length, err := options.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%q is neither a running time such as 12h or 7d nor a date such as 2026-12-01, "+
			"2026-12-01T06:00 or 2026-12-01T06:00+01:00", text)
	}
	*t = Term{Length: length}
	return nil
}
