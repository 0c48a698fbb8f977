package warc

import "errors"

// Errors of the Writer. Those of the file system come through wrapped (syscall.ENOSPC is found by errors.Is).
var (
	// ErrClosed is returned by a Writer after Close.
	ErrClosed = errors.New("warc: writer is closed")
	// ErrLost is returned once making data durable has failed: what was written since the last good Sync may be gone. The Writer
	// stays failed; opening it again at the last durable Cut is the way on.
	ErrLost = errors.New("warc: written data may be lost")
	// ErrResume is returned when the files in the directory do not reach the place to go on from.
	ErrResume = errors.New("warc: cannot go on from the cut")
)
