package evidence

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"orbweaver/engine/layout"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
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

const (
	capturesMost = 20
	indexWindow  = 8 << 10
	indexLineMax = 256 << 10
)

// addCaptures searches the index of each closed file of the archive.
func (s *Source) addCaptures(ctx context.Context, e *Evidence, url []byte, _ Limits) error {
	dir := s.Dir + "/" + layout.ArchiveDir
	files, err := warc.Files(s.FS, dir)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("evidence: %w", err)
	}
	prefix := append(urlx.SURT(nil, url), ' ')
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
		err := searchIndex(s.FS, dir+"/"+files[i].Index(), prefix, func(line []byte) {
			l, err := cdxj.ParseLine(line)
			if err != nil || !bytes.Equal(l.URL, url) {
				return
			}
			stamp, _, _ := strings.Cut(string(line[len(prefix):]), " ")
			found = append(found, Capture{
				Time: stamp, Status: l.Status, Revisit: l.Revisit, File: layout.ArchiveDir + "/" + string(l.File),
				Offset: l.Offset, Length: l.Length,
			})
		})
		switch {
		case errors.Is(err, fs.ErrNotExist):
			e.note("%s has no index: write it with orbweaver fsck --rebuild", files[i].Name)
		case err != nil:
			return err
		}
		slices.Reverse(found)
		e.Captures = append(e.Captures, found...)
	}
	if open != "" && len(e.Captures) == 0 && slices.ContainsFunc(e.Attempts, func(a Attempt) bool { return a.Size > 0 }) {
		e.note("%s/%s is being written and has no index yet: the record may be there", layout.ArchiveDir, open)
	}
	return nil
}

// searchIndex calls f for each line of a sorted index that begins with prefix.
func searchIndex(fsys vfs.FS, name string, prefix []byte, f func(line []byte)) error {
	file, err := fsys.Open(name)
	if err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil {
		return fmt.Errorf("evidence: %w", err)
	}
	low, high := int64(0), size // the first line with the prefix, if any, begins at low or later, and before high
	buf := make([]byte, indexWindow)
	for high-low > indexWindow {
		mid := low + (high-low)/2
		line, begin, err := lineAfter(file, mid, &buf)
		if err != nil {
			return fmt.Errorf("evidence: %s: %w", name, err)
		}
		switch {
		case begin >= high || line == nil:
			high = mid
		case bytes.Compare(line[:min(len(line), len(prefix))], prefix) < 0:
			low = begin
		default:
			high = mid
		}
	}
	lines := bufio.NewScanner(io.NewSectionReader(file, low, size-low))
	lines.Buffer(buf, indexLineMax)
	for lines.Scan() {
		line := lines.Bytes()
		head := line[:min(len(line), len(prefix))]
		if bytes.Equal(head, prefix) {
			f(line)
		} else if bytes.Compare(head, prefix) > 0 {
			return nil
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("evidence: %s: %w", name, err)
	}
	return nil
}

// lineAfter returns the first line that begins behind an offset; nil at the end of the file.
func lineAfter(file io.ReaderAt, at int64, buf *[]byte) (line []byte, begin int64, err error) {
	for {
		n, err := file.ReadAt(*buf, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, 0, err
		}
		text := (*buf)[:n]
		if first := bytes.IndexByte(text, '\n'); first >= 0 {
			rest := text[first+1:]
			if last := bytes.IndexByte(rest, '\n'); last >= 0 {
				return rest[:last], at + int64(first) + 1, nil
			}
		}
		if n < len(*buf) || len(*buf) >= indexLineMax {
			return nil, 0, nil
		}
		*buf = make([]byte, 2*len(*buf))
	}
}
