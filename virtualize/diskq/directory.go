package diskq

import (
	"errors"
	"fmt"
	"io"
	"path"

	"orbweaver/internal/vfs"
)

// directory has the segment files of a queue.
type directory struct {
	fsys vfs.FS
	dir  string
}

// name returns the name of a segment file.
func (d directory) name(segment uint64) string {
	return path.Join(d.dir, fmt.Sprintf("q-%016x", segment))
}

func (d directory) create(segment uint64) (vfs.File, error) { return d.fsys.Create(d.name(segment)) }

// open opens a segment for reading and verifies its head.
func (d directory) open(segment uint64) (vfs.File, error) {
	file, err := d.fsys.Open(d.name(segment))
	if err != nil {
		return nil, fmt.Errorf("diskq: read: %w", err)
	}
	head := make([]byte, segmentHead)
	n, err := file.ReadAt(head, 0)
	if err == nil || errors.Is(err, io.EOF) {
		err = checkSegmentHead(head[:n], segment)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// removeOutside deletes the segments that the checkpoint does not name; all of them if it is nil.
func (d directory) removeOutside(cut *Checkpoint) error {
	names, err := d.fsys.List(d.dir)
	if err != nil {
		return err
	}
	for _, base := range names {
		segment, ok := parseSegmentName(base)
		if !ok || (cut != nil && segment >= cut.HeadSegment && segment <= cut.TailSegment) {
			continue
		}
		if err := vfs.RemoveIfExists(d.fsys, d.name(segment)); err != nil {
			return err
		}
	}
	return nil
}
