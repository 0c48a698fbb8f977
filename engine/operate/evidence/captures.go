package evidence

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

const capturesMost = 20

// addCaptures searches the index lines of files that are not closed, and the index of each closed file of the archive.
func (s *Source) addCaptures(ctx context.Context, e *Evidence, url []byte, _ Limits) error {
	dir := s.Dir + "/" + layout.ArchiveDir
	key := urlx.SURT(nil, url)
	want, prefix := lookup.Exact(key), append(key, ' ')
	unread := s.addOpenCaptures(e, prefix, url) // first: a file that is closed meanwhile is found in its index
	files, err := warc.Files(s.FS, dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("evidence: %w", err)
	}
	open := ""
	for i := len(files) - 1; i >= 0 && len(e.Captures) < capturesMost; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		if files[i].Open {
			open = files[i].Name
			continue
		}
		var found []Capture
		err := lookup.EachLine(s.FS, dir+"/"+files[i].Index(), want, func(line []byte) {
			if c, ok := captureOf(line, prefix, url); ok {
				found = append(found, c)
			}
		})
		switch {
		case errors.Is(err, fs.ErrNotExist):
			e.note("%s has no index: write it with orbweaver fsck --rebuild", files[i].Name)
		case err != nil:
			return fmt.Errorf("evidence: %w", err)
		}
		e.addFound(found)
	}
	if open != "" && unread && len(e.Captures) == 0 {
		e.note("%s/%s has no index yet: a record may be there", layout.ArchiveDir, open)
	}
	return nil
}

// addOpenCaptures searches the files that are not closed. unread says that not all of their lines were searched.
func (s *Source) addOpenCaptures(e *Evidence, prefix, url []byte) (unread bool) {
	var found []Capture
	unread = s.OpenFiles(prefix, func(name string, line []byte) {
		if c, ok := captureOf(line, prefix, url); ok {
			c.File = layout.ArchiveDir + "/" + name
			found = append(found, c)
		}
	})
	e.addFound(found)
	return unread
}

// addFound adds captures of a file, the last first, unless they are there under the name of the open file.
func (e *Evidence) addFound(found []Capture) {
	for _, c := range slices.Backward(found) {
		known := slices.ContainsFunc(e.Captures, func(k Capture) bool {
			return k.Offset == c.Offset && k.Time == c.Time && strings.HasPrefix(k.File, c.File)
		})
		if !known && len(e.Captures) < capturesMost {
			e.Captures = append(e.Captures, c)
		}
	}
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
