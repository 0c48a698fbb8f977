package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
)

// A sync mark is a journal entry of the kind kindSynced. It says that all journals were durable up to a place:
// generation and length stand in the entry's fingerprint. The first entries that are written after a sync bring it
// along, so it costs 67 bytes for each group commit.
//
// It tells damage from a power cut. A power cut may keep an entry and lose the one before, if neither was synced. It
// cannot lose what lies before a place that a mark names. See Tail.

const syncMarkSize = journalFixed + 4

// appendSyncMark appends the mark of the last sync, if no mark has said so yet.
func (j *File) appendSyncMark(dst []byte) []byte {
	if j.safe == j.marked {
		return dst
	}
	return appendJournalEntry(dst, j.safe.mark())
}

// mark makes the entry that says that the journals were durable up to there.
func (e Position) mark() *Entry {
	m := &Entry{Kind: kindSynced}
	m.FP.Hi, m.FP.Lo = e.generation, uint64(e.length)
	return m
}

// markedEnd is what a sync mark says.
func (e *Entry) markedEnd() Position {
	return Position{generation: e.FP.Hi, length: int64(e.FP.Lo)}
}

// Tail says what follows the last whole entry of a journal file.
type Tail struct {
	File   string // relative to the crawl directory
	Offset int64  // of the first byte that is not part of a whole entry
	Torn   bool   // it is not just space that was reserved
	Unread int    // whole entries that follow the torn one: they are not read when the crawl goes on
	Synced bool   // one of those says that the disk had confirmed the torn one: no power cut took it, it was damaged later
}

// TailOf looks at what follows the last whole entry of a journal. last is the last place up to which the journals were
// read.
func TailOf(fsys vfs.FS, name string, end int64, last Position) (Tail, error) {
	t := Tail{File: layout.FrontierDir + "/" + path.Base(name), Offset: end}
	rest, err := readFrom(fsys, name, end)
	if err != nil {
		return t, fmt.Errorf("journal: %w", err)
	}
	if t.Torn = len(bytes.Trim(rest, "\x00")) > 0; !t.Torn {
		return t, nil
	}
	for rest = rest[1:]; len(rest) >= journalFixed+4; {
		e, n, err := decodeJournalEntry(rest)
		switch {
		case err != nil:
			rest = rest[1:]
			continue
		case e.Kind != kindSynced:
			t.Unread++
		case last.before(e.markedEnd()):
			t.Synced = true
		}
		rest = rest[n:]
	}
	return t, nil
}

// readFrom reads a file from an offset on.
func readFrom(fsys vfs.FS, name string, offset int64) ([]byte, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, max(size-offset, 0))
	if _, err := f.ReadAt(b, offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return b, nil
}

// generationOf is the generation in the name of a journal.
func generationOf(name string) (g uint64) {
	if _, err := fmt.Sscanf(path.Base(name), "journal-%d", &g); err != nil {
		panic(fmt.Sprintf("BUG: journal: %q is the name of no journal", name))
	}
	return g
}
