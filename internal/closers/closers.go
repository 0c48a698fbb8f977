// Package closers closes what was opened, in the reverse order.
package closers

import (
	"errors"
	"slices"
)

// List is what must be closed. Its zero value is empty. It is not safe for concurrent use.
type List struct{ list []func() error }

// Add appends a function that closes.
func (l *List) Add(f func() error) { l.list = append(l.list, f) }

// Close calls all functions, the last first, and joins their errors. A second call does nothing.
func (l *List) Close() error {
	var errs []error
	for _, f := range slices.Backward(l.list) {
		errs = append(errs, f())
	}
	l.list = nil
	return errors.Join(errs...)
}
