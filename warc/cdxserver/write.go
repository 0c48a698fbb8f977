package cdxserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"orbweaver/warc/lookup"
)

// errEnough ends a scan at the limit.
var errEnough = errors.New("enough")

// Write answers a query: it writes one line for each capture.
func (q *Query) Write(ctx context.Context, lines lookup.Lines, w io.Writer) error {
	count := 0
	window := window{query: q}
	err := lines.Scan(ctx, q.want, func(line []byte) error {
		r, ok := parseRow(line)
		if !ok || !q.has(&r) {
			return nil
		}
		if q.sort != "" {
			window.add(r)
			return nil
		}
		if err := q.writeRow(w, &r); err != nil {
			return err
		}
		if count++; count == q.limit {
			return errEnough
		}
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return err
	}
	for _, r := range window.sorted() {
		if err := q.writeRow(w, &r); err != nil {
			return err
		}
	}
	return nil
}

// row is a line of an index.
type row struct {
	key, stamp string
	object     []byte // as it is in the index
	fields     map[string]any
}

func parseRow(line []byte) (r row, ok bool) {
	brace := bytes.IndexByte(line, '{')
	if brace < 0 || line[len(line)-1] != '}' {
		return r, false
	}
	key, stamp, ok := strings.Cut(string(line[:brace]), " ")
	r = row{key: key, stamp: strings.TrimSpace(stamp), object: line[brace:]}
	return r, ok && r.stamp != ""
}

// get returns a field as text; "" if there is none.
func (r *row) get(name string) string {
	switch name {
	case "urlkey":
		return r.key
	case "timestamp":
		return r.stamp
	}
	if r.fields == nil {
		if json.Unmarshal(r.object, &r.fields) != nil || r.fields == nil {
			r.fields = map[string]any{}
		}
	}
	switch value := r.fields[name].(type) {
	case nil:
		return ""
	case string:
		return value
	default:
		return fmt.Sprint(value)
	}
}

// has says whether a line has the times and the values that are wanted.
func (q *Query) has(r *row) bool {
	if r.stamp < q.from || q.to != "" && r.stamp[:min(len(r.stamp), len(q.to))] > q.to {
		return false
	}
	for i := range q.filters {
		if f := &q.filters[i]; f.match(r.get(f.field)) == f.not {
			return false
		}
	}
	return true
}

// writeRow writes a line.
func (q *Query) writeRow(w io.Writer, r *row) error {
	var out bytes.Buffer
	switch {
	case q.output == textOutput:
		for i, name := range q.fields {
			if i > 0 {
				out.WriteByte(' ')
			}
			value := strings.Join(strings.Fields(r.get(fieldOf(name))), "%20")
			if value == "" {
				value = "-"
			}
			out.WriteString(value)
		}
	case q.output == jsonOutput && q.fields == nil:
		out.WriteString(`{"urlkey":`)
		writeText(&out, r.key)
		out.WriteString(`,"timestamp":`)
		writeText(&out, r.stamp)
		if rest := bytes.TrimSpace(r.object[1:]); len(rest) > 1 {
			out.WriteByte(',')
		}
		out.Write(r.object[1:])
	case q.output == jsonOutput:
		q.writeFields(&out, r)
	default:
		out.WriteString(r.key + " " + r.stamp + " ")
		if q.fields == nil {
			out.Write(r.object)
		} else {
			q.writeFields(&out, r)
		}
	}
	out.WriteByte('\n')
	_, err := w.Write(out.Bytes())
	return err
}

// writeFields writes an object of the fields that are wanted and that there are.
func (q *Query) writeFields(out *bytes.Buffer, r *row) {
	out.WriteByte('{')
	for _, name := range q.fields {
		value := r.get(fieldOf(name))
		if value == "" {
			continue
		}
		if out.Bytes()[out.Len()-1] != '{' {
			out.WriteByte(',')
		}
		writeText(out, name)
		out.WriteByte(':')
		writeText(out, value)
	}
	out.WriteByte('}')
}

// writeText writes a string of JSON.
func writeText(out *bytes.Buffer, text string) {
	b, _ := json.Marshal(text) // a string has a form in JSON
	out.Write(b)
}

// window keeps the lines of a query that does not want them in their order.
type window struct {
	query *Query
	rows  []row
}

// add adds a line, whose memory it copies. Twice the limit of lines is in memory at most.
func (w *window) add(r row) {
	r.object, r.fields = bytes.Clone(r.object), nil
	w.rows = append(w.rows, r)
	if len(w.rows) >= 2*w.query.limit {
		w.trim()
	}
}

// trim leaves the best lines.
func (w *window) trim() {
	if w.query.sort == closestSort {
		slices.SortStableFunc(w.rows, func(a, b row) int {
			return int(max(-1, min(1, w.distance(&a)-w.distance(&b))))
		})
		w.rows = w.rows[:min(len(w.rows), w.query.limit)]
	} else if over := len(w.rows) - w.query.limit; over > 0 {
		w.rows = slices.Delete(w.rows, 0, over)
	}
}

// distance is how far a capture is from the time that is wanted.
func (w *window) distance(r *row) time.Duration {
	c := lookup.Capture{Stamp: r.stamp}
	return c.Time().Sub(w.query.closest).Abs()
}

// sorted returns the lines in the order that is wanted.
func (w *window) sorted() []row {
	w.trim()
	if w.query.sort == reverseSort {
		slices.Reverse(w.rows)
	}
	return w.rows
}
