package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"orbweaver/warc"
	"orbweaver/warc/lookup"
)

// Source is a feed: Feed, or one that has nothing.
type Source interface {
	Since(ctx context.Context, at time.Time) (Cursor, error)
	Read(ctx context.Context, q Query, do func(*Change) error) (next Cursor, err error)
}

// waitMax is how long an answer may wait for a change.
const waitMax = 10 * time.Minute

// Write writes the changes of a query as lines of JSON, and a last line with the cursor behind them.
func Write(ctx context.Context, f Source, q Query, out io.Writer) error {
	var line []byte
	next, err := f.Read(ctx, q, func(c *Change) error {
		line = c.AppendTo(line[:0])
		_, err := out.Write(line)
		return err
	})
	if err != nil {
		return err
	}
	end := Change{Kind: End, Cursor: next.String()}
	_, err = out.Write(end.AppendTo(line[:0]))
	return err
}

// ParseQuery reads the parameters of a query: since, all, limit, wait.
func ParseQuery(ctx context.Context, f Source, values map[string][]string) (q Query, err error) {
	for name, given := range values {
		value := ""
		if len(given) > 0 {
			value = given[0]
		}
		switch name {
		case "since":
			err = errors.Join(err, since(ctx, f, value, &q.Begin))
		case "all":
			q.Unchanged, err = readValue(strconv.ParseBool, name, value, err)
		case "limit":
			q.Most, err = readValue(func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }, name, value, err)
			if q.Most < 0 {
				err = errors.Join(err, errors.New("limit: it cannot be negative"))
			}
		case "wait":
			q.Wait, err = readValue(time.ParseDuration, name, value, err)
			q.Wait = min(q.Wait, waitMax)
		default:
			err = errors.Join(err, fmt.Errorf("there is no parameter %.40q: there are since, all, limit, wait", name))
		}
	}
	return q, err
}

// readValue reads the value of a parameter, and adds what is wrong with it to err.
func readValue[T any](parse func(string) (T, error), name, text string, err error) (T, error) {
	value, fault := parse(text)
	if fault != nil {
		err = errors.Join(err, fmt.Errorf("%s: %.40q is no such value", name, text))
	}
	return value, err
}

// since reads a cursor or a time.
func since(ctx context.Context, f Source, text string, cursor *Cursor) (err error) {
	if text == "" {
		return nil
	}
	if IsCursor(text) {
		*cursor, err = ParseCursor(text)
		return err
	}
	at, err := lookup.ParseTime(text)
	if err != nil {
		return fmt.Errorf("since: neither a cursor nor a time: %w", err)
	}
	*cursor, err = f.Since(ctx, at)
	return err
}

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
