package vfs

import (
	"errors"
	"syscall"
)

// IsFull tells whether an error says that there is no room: a full disk or a used-up quota. Such an error heals by
// itself when somebody makes room; what failed may be tried again.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || isFullHere(err)
}
