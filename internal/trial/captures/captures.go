package captures

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Records reads all records of an archive in order and hands each to f, which may read its block. Any fault ends it.
func Records(fsys vfs.FS, dir string, f func(*warc.RecordRead) error) error {
	return RecordsAt(fsys, dir, func(_ warc.Checkpoint, rec *warc.RecordRead) error { return f(rec) })
}

// RecordsAt is Records that tells where each record begins, too.
func RecordsAt(fsys vfs.FS, dir string, f func(at warc.Checkpoint, rec *warc.RecordRead) error) error {
	files, err := warc.Files(fsys, dir)
	if err != nil {
		return err
	}
	for _, info := range files {
		o := warc.ReaderOptions{Name: dir + "/" + info.Name, Syntax: warc.Fail, Spec: warc.Fail, Block: warc.Fail}
		err := warc.ReadFile(fsys, dir, info, math.MaxInt64, o, func(z *warc.Reader) error {
			return warc.ScanRecords(z, func(rec *warc.RecordRead) error {
				return f(warc.Checkpoint{Serial: info.Serial, Length: rec.Offset}, rec)
			}, warc.StopAtDamage)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", info.Name, err)
		}
	}
	return nil
}

// Each reads an archive's responses and revisits, robots.txt left out, and hands each to f.
func Each(fsys vfs.FS, dir string, f func(judge.Capture)) error {
	return EachAt(fsys, dir, func(_ warc.Checkpoint, _ *warc.RecordRead, c judge.Capture) { f(c) })
}

// Since reads the captures of an archive from a place on: those of one pass. A page that the server called
// unchanged is one with status 200, and has the payload that it had.
func Since(fsys vfs.FS, dir string, from warc.Checkpoint) (judge.Crawled, error) {
	var list []judge.Capture
	err := EachAt(fsys, dir, func(at warc.Checkpoint, rec *warc.RecordRead, c judge.Capture) {
		if at.Before(from) {
			return
		}
		if rec.Get("WARC-Profile") == warc.ProfileNotModified {
			c.Status = 200
		}
		list = append(list, c)
	})
	return slices.Values(list), err
}

// EachAt is Each, and also gives f the place of each capture in the archive.
func EachAt(fsys vfs.FS, dir string, f func(at warc.Checkpoint, rec *warc.RecordRead, c judge.Capture)) error {
	head := make([]byte, 64)
	return RecordsAt(fsys, dir, func(at warc.Checkpoint, rec *warc.RecordRead) error {
		if (rec.Type != warc.Response && rec.Type != warc.Revisit) || bytes.HasSuffix(rec.TargetURI, []byte("/robots.txt")) ||
			rec.IsDNS() {
			return nil
		}
		c := judge.Capture{URL: string(rec.TargetURI), Truncated: rec.Type == warc.Response &&
			rec.Get("WARC-Truncated") != "", IsDrawn: rec.Get(warc.RenderField) != ""}
		if sum, ok := decodeDigest(rec.Get("WARC-Payload-Digest")); ok {
			c.Digest, c.HasDigest = sum, true
		}
		n, err := io.ReadFull(rec, head)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
			return err
		}
		c.Status = Status(head[:n])
		f(at, rec, c)
		return nil
	})
}

// Status reads the code of a status line.
func Status(head []byte) int {
	_, rest, ok := bytes.Cut(head, []byte{' '})
	if !ok || len(rest) < 3 {
		return 0
	}
	n, err := strconv.Atoi(string(rest[:3]))
	if err != nil {
		return 0
	}
	return n
}

// All reads all captures of an archive. They are kept as they come: about 100 bytes each.
func All(fsys vfs.FS, dir string) (judge.Crawled, error) {
	var list []judge.Capture
	if err := Each(fsys, dir, func(c judge.Capture) { list = append(list, c) }); err != nil {
		return nil, err
	}
	return slices.Values(list), nil
}

// OfAgents is All for the archives of several agents, each in a directory of its own.
func OfAgents(fsys vfs.FS, dirs ...string) (judge.Crawled, error) {
	var list []judge.Capture
	for k, dir := range dirs {
		err := Each(fsys, dir, func(c judge.Capture) {
			c.Archive = k
			list = append(list, c)
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	return slices.Values(list), nil
}
