package fsck

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
)

// findings are the report while it is made.
type findings struct {
	ctx context.Context //nolint:containedctx // of one check; after its end no finding is added
	dir string

	mu     sync.Mutex
	report Report // guarded by mu
}

// fault and note add a finding. Safe for concurrent use.
func (c *findings) fault(area, file, format string, args ...any) {
	c.add(Finding{area, file, Error, fmt.Sprintf(format, args...)})
}

func (c *findings) note(area, file, format string, args ...any) {
	c.add(Finding{area, file, Note, fmt.Sprintf(format, args...)})
}

func (c *findings) add(f Finding) {
	if c.ctx.Err() != nil {
		return // what fails now fails because the check was ended
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.Add(f)
}

// checked says how much of an area was examined.
func (c *findings) checked(area string, n int64, unit string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.report.area(area)
	a.Checked, a.Unit = a.Checked+n, unit
}

// fail adds the errors of a component, each by itself, under the file that it names; under file if it names none.
func (c *findings) fail(area, file string, err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok &&
		err.Error() != "" { //nolint:errorlint // only a joined error at the top is taken apart
		if list := many.Unwrap(); joined(err, list) {
			for _, e := range list {
				c.fail(area, file, e)
			}
			return
		}
	}
	c.fault(area, c.fileOf(file, err), "%v", err)
}

// joined tells a list of errors from one error that wraps two: the text of the latter is its own.
func joined(err error, list []error) bool {
	return err.Error() == errors.Join(list...).Error()
}

// fileOf finds the file that an error is about, relative to the crawl directory.
func (c *findings) fileOf(where string, err error) string {
	var onPath *fs.PathError // first: it knows the file of an image of the workbench, which the image does not
	var corrupt *vfs.CorruptError
	switch {
	case errors.As(err, &onPath):
		return c.relative(onPath.Path)
	case errors.As(err, &corrupt):
		return c.relative(corrupt.File)
	}
	return where + placeIn(where, err.Error())
}

func (c *findings) relative(name string) string {
	return strings.TrimPrefix(path.Clean(name), path.Clean(c.dir)+"/")
}

// placeIn reads the number of a segment out of what the queues say.
func placeIn(where, text string) string {
	number := func(pattern string, base int) (uint64, bool) {
		m := regexp.MustCompile(pattern).FindStringSubmatch(text)
		if m == nil {
			return 0, false
		}
		n, err := strconv.ParseUint(m[1], base, 64)
		return n, err == nil
	}
	switch where {
	case layout.ReadyDir, layout.UrgentDir, layout.SkippedDir:
		if n, ok := number(`segment (\d+)`, 10); ok {
			return fmt.Sprintf("/q-%016x", n)
		}
	case layout.QueuesDir:
		if n, ok := number(`index (\d+)`, 10); ok {
			return fmt.Sprintf("/idx-%016x", n)
		}
		if n, ok := number(`(?:segment|block) (\d+)`, 10); ok {
			return fmt.Sprintf("/seg-%08x", n)
		}
	}
	return ""
}
