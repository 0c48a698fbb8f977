package explain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/lookup"
)

// Capture is a record of the URL in the archive.
type Capture struct {
	Time    string `json:"time"` // YYYYMMDDhhmmss
	Status  int    `json:"status"`
	Revisit bool   `json:"revisit"`
	File    string `json:"file"`
	Offset  int64  `json:"offset"`
	Length  int64  `json:"length"`
}

// capturesMost is how many captures an answer has: the last ones.
const capturesMost = 20

// addCaptures searches the index lines of the archive.
func (s *Source) addCaptures(ctx context.Context, e *Evidence, url []byte, _ Limits) error {
	key := urlx.SURT(nil, url)
	want, prefix := lookup.Exact(key), append(key, ' ')
	var found []Capture
	err := s.Captures.Scan(ctx, want, func(line []byte) error {
		if c, ok := captureOf(line, prefix, url); ok {
			found = append(found[max(len(found)-capturesMost+1, 0):], c)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("explain: %w", err)
	}
	slices.Reverse(found)
	if e.Captures = append(e.Captures, found...); len(found) == 0 && s.UnreadFile != "" {
		e.note("%s/%s has no index yet: a record may be there", layout.ArchiveDir, s.UnreadFile)
	}
	return nil
}

// closedFiles are the files of an archive that are closed; open is one that is not.
func closedFiles(fsys vfs.FS, dir string) (closed []string, open string, err error) {
	files, err := warc.Files(fsys, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", fmt.Errorf("explain: %w", err)
	}
	for _, f := range files {
		if f.Open {
			open = f.Name
		} else {
			closed = append(closed, dir+"/"+f.Name)
		}
	}
	return closed, open, nil
}

// captureOf reads a line of an index; ok is false if it is that of another URL.
func captureOf(line, prefix, url []byte) (c Capture, ok bool) {
	l, err := cdxj.ParseLine(line)
	if err != nil || !bytes.Equal(l.URL, url) {
		return c, false
	}
	stamp, _, _ := strings.Cut(string(line[len(prefix):]), " ")
	return Capture{
		Time: stamp, Status: l.Status, Revisit: l.Revisit, File: layout.ArchiveDir + "/" + string(l.File), Offset: l.Offset,
		Length: l.Length,
	}, true
}
