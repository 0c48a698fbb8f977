package feed

import (
	"errors"
	"fmt"
	"strings"

	"orbweaver/warc"
)

// Cursor is a place in the feed: what comes before it was read. Its text is opaque for clients, and stays valid for as
// long as the archive.
type Cursor struct {
	archive warc.Checkpoint
	log     warc.Checkpoint // number of the file, and offset in its lines
}

// ErrCursor says that a text is no cursor.
var ErrCursor = errors.New("no cursor of this feed")

// cursorForm begins with the number of the form.
const cursorForm = "2-%d-%d-%d-%d"

// String returns the cursor as a client keeps it.
func (c Cursor) String() string {
	return fmt.Sprintf(cursorForm, c.archive.Serial, c.archive.Length, c.log.Serial, c.log.Length)
}

// ParseCursor is the inverse of String. The error wraps ErrCursor.
func ParseCursor(text string) (c Cursor, err error) {
	_, err = fmt.Sscanf(text, cursorForm, &c.archive.Serial, &c.archive.Length, &c.log.Serial, &c.log.Length)
	if err != nil || c.String() != text || c.archive.Length < 0 || c.log.Length < 0 {
		return Cursor{}, fmt.Errorf("%w: %.100q", ErrCursor, text)
	}
	return c, nil
}

// IsCursor says whether a text has the form of a cursor, and not that of a time.
func IsCursor(text string) bool {
	form, _, _ := strings.Cut(text, "-")
	return form == "2"
}
