package rooms

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Options of a benchmark.
type Options struct {
	URLs  int64  // how many at the end
	Hosts int64  // over how many hosts
	Dir   string // where the room's files go; made, and removed at the end
	Seed  uint64
	Say   io.Writer // progress: a line at each size
}

// in makes the directory of a benchmark; away removes it with all that is in it.
func (o *Options) in() (away func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(o.Dir), 0o750); err != nil {
		return nil, fmt.Errorf("rooms: %w", err)
	}
	if err := os.Mkdir(o.Dir, 0o750); err != nil {
		return nil, fmt.Errorf("rooms: %w; give another --dir", err)
	}
	return func() error { return os.RemoveAll(o.Dir) }, nil
}
