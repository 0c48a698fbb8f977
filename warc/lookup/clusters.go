package lookup

import (
	"errors"
	"io/fs"
	"path"

	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/zipnum"
)

// clusters opens the clusters of the directories. They stand for the closed files beside them that have no index of
// their own: covered has their names.
func (f *Files) clusters(
	files []archiveFile, want Range,
) (covered map[string]bool, sources []extsort.Source, err error) {
	for _, dir := range f.o.Dirs {
		if _, err := f.o.FS.Size(path.Join(dir, zipnum.IndexName)); err != nil {
			continue
		}
		here := map[string]bool{}
		for _, file := range files {
			if file.open || path.Dir(file.path) != path.Clean(dir) {
				continue
			}
			if _, err := f.o.FS.Size(warc.IndexName(file.path)); errors.Is(err, fs.ErrNotExist) {
				here[file.name] = true
			}
		}
		if len(here) == 0 {
			continue
		}
		c, err := openCluster(f.o.FS, dir, want, here, f.tellOnce)
		if err != nil {
			return nil, nil, err
		}
		sources = append(sources, c)
		if covered == nil {
			covered = here
			continue
		}
		for name := range here {
			covered[name] = true
		}
	}
	return covered, sources, nil
}

// clusterCursor is the lines of some files in a cluster.
type clusterCursor struct {
	*zipnum.Cursor

	files map[string]bool
}

func openCluster(
	fsys vfs.FS, dir string, want Range, files map[string]bool, onFault func(*warc.Fault),
) (*clusterCursor, error) {
	in, err := zipnum.Open(fsys, dir, want.From, want.To, func(file string, at int64, what string) {
		onFault(&warc.Fault{Kind: zipnum.ErrCluster, File: file, Offset: at, What: what})
	})
	if err != nil {
		return nil, err
	}
	c := &clusterCursor{Cursor: in, files: files}
	return c, c.skip()
}

// Next implements extsort.Source.
func (c *clusterCursor) Next() error {
	if err := c.Cursor.Next(); err != nil {
		return err
	}
	return c.skip()
}

// skip leaves out the lines of other files.
func (c *clusterCursor) skip() error {
	for c.Line() != nil && !c.files[fileOfLine(c.Line())] {
		if err := c.Cursor.Next(); err != nil {
			return err
		}
	}
	return nil
}

// fileOfLine returns the name of the file in an index line, "" if it has none.
func fileOfLine(line []byte) string {
	said, _ := cdxj.ParseLine(line) // a damaged line has no file
	return string(said.File)
}
