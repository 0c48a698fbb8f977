package feed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/lookup"
)

// Kind says what a capture tells about its URL.
type Kind string

// The kinds. End is that of the last line of an answer.
const (
	Fresh     Kind = "new"       // the first capture with content, or the first after it was gone
	Changed   Kind = "changed"   // other content, or another status, than the capture before
	Unchanged Kind = "unchanged" // the same as the capture before
	Gone      Kind = "gone"      // 404, 410 or no answer, and the capture before had content
	End       Kind = "end"       // no change: the cursor goes on from here
)

// Change is a line of the feed.
type Change struct {
	Kind    Kind   `json:"kind"`
	URL     string `json:"url,omitempty"`
	Time    string `json:"time,omitempty"` // of the capture, RFC 3339
	Status  int    `json:"status,omitempty"`
	Outcome string `json:"outcome,omitempty"` // of a URL that is gone because no server answered, as in crawl.log
	MIME    string `json:"mime,omitempty"`    // warc/revisit for a revisit record
	Digest  string `json:"digest,omitempty"`  // of the payload
	File    string `json:"file,omitempty"`    // WARC file with the record
	Offset  int64  `json:"offset,omitempty"`  // of the record in it, in bytes
	Length  int64  `json:"length,omitempty"`
	Render  bool   `json:"needs_render,omitempty"` // a browser must draw the page
	Cursor  string `json:"cursor"`                 // continues behind this line
}

// AppendTo appends the change as a line of JSON.
func (c *Change) AppendTo(dst []byte) []byte {
	b := bytes.NewBuffer(dst)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(c); err != nil {
		panic(fmt.Sprintf("BUG: feed: a change is no JSON: %v", err))
	}
	return b.Bytes()
}

// placeShift leaves 41 bits for offsets: 2 TiB.
const placeShift = 41

// placeOf makes one number of a place.
func placeOf(at warc.Checkpoint) uint64 { return uint64(at.Serial)<<placeShift | uint64(at.Length) }

// Flags in the two low bits of a state. The others are of a hash.
const (
	flagGone  = 1
	flagsMask = 3
)

// captured is what an index line says, with the version that it makes.
type captured struct {
	version

	line cdxj.Line // borrowed
	at   warc.Checkpoint
}

// read takes an index line. ok is false for a record that tells nothing about the content of a URL: an error of the
// server, a refusal, an answer to a form, a record of another kind.
func (c *captured) read(e lookup.Entry) (ok bool) {
	line, err := cdxj.ParseLine(e.Line)
	if err != nil || !bytes.HasPrefix(line.URL, []byte("http")) || len(line.Method) > 0 {
		return false
	}
	c.line, c.at = line, e.At
	c.url, c.place = xxh3.Hash128(line.URL), placeOf(e.At)
	_, stamp := cdxj.Key(e.Line)
	at, err := time.Parse("20060102150405", string(stamp))
	if c.time = at.Unix(); err != nil {
		c.time = 0
	}
	c.state, ok = stateOf(&line, c.place)
	return ok
}

// HTTP statuses that have a meaning of their own here.
const (
	statusOK          = 200
	statusNotModified = 304
	statusBadRequest  = 400
	statusNotFound    = 404
	statusGone        = 410
)

// stateOf returns what two captures of a URL have in common if nothing has changed between them. A capture without a
// digest, such as a truncated one, is like no other.
func stateOf(line *cdxj.Line, place uint64) (state uint64, ok bool) {
	status := line.Status
	switch {
	case status == statusNotFound || status == statusGone:
		return flagGone, true
	case status < statusOK || status >= statusBadRequest:
		return 0, false
	case status == statusNotModified:
		status = statusOK // of the capture that is not modified
	}
	if len(line.Digest) == 0 {
		return place<<2 | flagsMask&^flagGone, true
	}
	return xxh3.HashSeed(line.Digest, uint64(status)) &^ flagsMask, true
}

func isGone(state uint64) bool { return state&flagGone != 0 }

// kindOf compares a state with the one before; none says that there is none.
func kindOf(state, before uint64, none bool) (kind Kind, ok bool) {
	wasThere := !none && !isGone(before)
	switch {
	case isGone(state):
		return Gone, wasThere
	case !wasThere:
		return Fresh, true
	case state == before:
		return Unchanged, true
	default:
		return Changed, true
	}
}

// change makes the line of a capture.
func (c *captured) change(kind Kind, cursor Cursor) Change {
	made := Change{
		Kind: kind, URL: string(c.line.URL), Status: c.line.Status, MIME: string(c.line.MIME), File: string(c.line.File),
		Offset: c.line.Offset, Length: c.line.Length, Render: c.line.Render, Cursor: cursor.String(),
	}
	if c.time != 0 {
		made.Time = time.Unix(c.time, 0).UTC().Format(time.RFC3339)
	}
	if len(c.line.Digest) > 0 {
		made.Digest = "sha1:" + string(c.line.Digest)
	}
	return made
}

// behind is the place behind a record. It is not the end of the record: what follows may be cut at a resume, and
// another record then begins there.
func behind(at warc.Checkpoint) warc.Checkpoint {
	return warc.Checkpoint{Serial: at.Serial, Length: at.Length + 1}
}
