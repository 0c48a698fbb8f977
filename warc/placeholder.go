package warc

import (
	"fmt"
	"time"

	"orbweaver/internal/vfs"
)

// Placeholder creates an empty file for a missing serial, because the serials of an archive have no gaps. A repair
// makes it a valid file without records. Its name has Prefix, Host and Compression of o, and the time when.
func Placeholder(fsys vfs.FS, o Options, serial uint32, when time.Time) (FileInfo, error) {
	o = o.WithDefaults()
	name := formatName(&o, serial, when) + openSuffix
	f, err := fsys.Create(join(o.Dir, name))
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return FileInfo{}, fmt.Errorf("warc: %w", err)
	}
	return FileInfo{Name: name, Serial: serial, Open: true, Compression: o.Compression}, nil
}
