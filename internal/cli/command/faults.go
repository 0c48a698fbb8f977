package command

import (
	"errors"
	"fmt"
)

// Faults collects what is wrong.
type Faults struct{ list []error }

// Add notes what is wrong with a flag, or with something else if flag is empty. A nil error is no fault. Each part of a
// joined error is a fault of the flag.
func (m *Faults) Add(flag string, err error) {
	joined, isList := err.(interface{ Unwrap() []error }) //nolint:errorlint // only the error itself
	switch {
	case err == nil:
	case isList && err.Error() == errors.Join(joined.Unwrap()...).Error():
		for _, part := range joined.Unwrap() {
			m.Add(flag, part)
		}
	case flag == "":
		m.list = append(m.list, err)
	default:
		m.list = append(m.list, fmt.Errorf("%s: %w", flag, err))
	}
}

// IsEmpty says that nothing was wrong.
func (m *Faults) IsEmpty() bool { return len(m.list) == 0 }

// Err joins the faults; nil if there are none.
func (m *Faults) Err() error { return errors.Join(m.list...) }
