package crawllog

import "time"

// Position is a place in the log: the number of a file, and an offset in its lines. The current file has the number
// that follows the compressed ones.
type Position struct {
	File   int   `json:"file"`
	Offset int64 `json:"offset"`
}

// unknown is the file of a position that is not known.
const unknown = -1

// Checkpoint is the log in the manifest.
type Checkpoint struct {
	Begin Position `json:"begin"` // of the pass
	End   Position `json:"end"`   // of the lines whose outcomes the checkpoint counts
}

// IsKnown reports whether the end of the log at the checkpoint is known.
func (c *Checkpoint) IsKnown() bool { return c.End.File != unknown }

// Mark returns the number of bytes that were added since Open, for a later call of PositionOf.
func (l *logFile) Mark() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accepted
}

// positionWait is how long PositionOf waits for a write that is under way.
const positionWait = time.Second

// PositionOf writes what waits, and returns the position of a mark. The position is unknown while the disk is slow or
// broken, so that the caller does not wait for it for long.
func (l *logFile) PositionOf(mark int64) Position {
	if l.broken.Load() || !l.writer.takeWithin(positionWait) {
		return Position{File: unknown}
	}
	defer l.writer.giveBack()
	l.flush()
	offset := l.end - (l.written - mark)
	switch {
	case l.written < mark || l.file == nil:
		return Position{File: unknown}
	case offset >= 0:
		return Position{l.nextNumber, offset}
	case offset+l.rotated >= 0:
		return Position{l.nextNumber - 1, offset + l.rotated}
	default:
		return Position{File: unknown}
	}
}

// SyncFile makes the current file durable. It does not keep others from writing.
func (l *logFile) SyncFile() error {
	l.writer.take()
	f := l.file
	l.writer.giveBack()
	if f == nil {
		return nil
	}
	return f.Sync()
}
