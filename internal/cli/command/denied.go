package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"orbweaver/internal/cli/process"
)

// remedyOf says as which user to run the command, if an error is that a file of another user must not be opened.
func remedyOf(err error) string {
	name := deniedFile(err)
	if name == "" {
		return ""
	}
	_, err = os.Stat(name)
	isMissing := errors.Is(err, fs.ErrNotExist)
	for err != nil && name != filepath.Dir(name) { // a file in a directory that is closed has no known owner
		name = filepath.Dir(name)
		_, err = os.Stat(name)
	}
	owner, self := process.FileOwner(name), process.User()
	const line = "\n           "
	switch {
	case owner == "":
		return ""
	case owner == self:
		return fmt.Sprintf(line+"%s belongs to this user (%s): give the right with chmod", PlainText(name), self)
	case isMissing:
		return fmt.Sprintf(line+"%s belongs to user %s, and this is user %s: name a place that user %[3]s may write to",
			PlainText(name), owner, self)
	}
	return fmt.Sprintf(line+"%s belongs to user %s, and this is user %s: run the command as %[2]s (sudo -u %[2]s)",
		PlainText(name), owner, self)
}

// deniedFile returns the first file that could not be opened for lack of a right; "" if there is none.
func deniedFile(err error) string {
	switch e := err.(type) { //nolint:errorlint // each error of the tree is looked at
	case nil:
		return ""
	case *fs.PathError:
		if errors.Is(e.Err, fs.ErrPermission) {
			return e.Path
		}
	case *os.LinkError:
		if errors.Is(e.Err, fs.ErrPermission) {
			return e.New
		}
	}
	switch e := err.(type) { //nolint:errorlint // as above
	case interface{ Unwrap() error }:
		return deniedFile(e.Unwrap())
	case interface{ Unwrap() []error }:
		for _, part := range e.Unwrap() {
			if name := deniedFile(part); name != "" {
				return name
			}
		}
	}
	return ""
}
