package hook

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// A frame is a head in JSON and a body, each with its length in front:
//
//	+-------------+-------------+------+------+
//	| head length | body length | head | body |
//	| 4           | 4           | n    | n    |   lengths are big-endian
//	+-------------+-------------+------+------+

// version is that of the frames.
const version = 1

// Page is the head of a question.
type Page struct {
	Version   int    `json:"v"`
	Kind      string `json:"kind"`
	ID        uint64 `json:"id"`
	URL       string `json:"url"`
	Status    int    `json:"status"`
	Type      string `json:"type,omitempty"`   // media type
	Digest    string `json:"digest,omitempty"` // of the payload, as in the WARC file; "" if it is not complete
	Title     string `json:"title,omitempty"`
	Depth     int    `json:"depth"`               // links from a seed
	Revisit   bool   `json:"revisit,omitempty"`   // the payload was stored earlier
	Truncated bool   `json:"truncated,omitempty"` // the body is not whole
}

// head is the head of a question. setID sets what all have.
type head interface{ setID(id uint64) }

// LinkQuestion is the head of a question about links of a page. Its body is that of the page.
type LinkQuestion struct {
	Version int    `json:"v"`
	Kind    string `json:"kind"`
	ID      uint64 `json:"id"`
	URL     string `json:"url"` // this and the next three are of the page
	Depth   int    `json:"depth"`
	Type    string `json:"type"`
	Title   string `json:"title,omitempty"`
	Links   []Link `json:"links"`
}

// Link is a link of a page.
type Link struct {
	URL  string `json:"url"`
	Kind string `json:"kind"`           // see parse.Kind
	Text string `json:"text,omitempty"` // of an anchor
}

func (q *LinkQuestion) setID(id uint64) { q.Version, q.Kind, q.ID = version, LinkKind, id }

func (p *Page) setID(id uint64) { p.Version, p.Kind, p.ID = version, PageKind, id }

// HostQuestion is the head of a question about a host. It has no body. Pages is of the whole crawl, the
// other numbers are those since this run began.
type HostQuestion struct {
	Version  int            `json:"v"`
	Kind     string         `json:"kind"`
	ID       uint64         `json:"id"`
	Host     string         `json:"host"`
	Site     string         `json:"site"`     // scheme, host and port
	Pages    int            `json:"pages"`    // of the site that were stored, in all
	Seen     int            `json:"seen"`     // pages that the other numbers are about
	Bytes    int64          `json:"bytes"`    // of these pages
	Revisits int            `json:"revisits"` // of them: the payload was stored earlier
	Links    int            `json:"links"`    // in them
	Outlinks int            `json:"outlinks"` // of these: to other hosts
	Terms    map[string]int `json:"terms"`    // the most frequent words, about
	Sample   []SamplePage   `json:"sample"`   // the latest pages with text
}

// SamplePage is one page of a host.
type SamplePage struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text"` // how it begins
}

func (q *HostQuestion) setID(id uint64) { q.Version, q.Kind, q.ID = version, HostKind, id }

// Answer is the head of an answer. It has no body.
type Answer struct {
	Version int                `json:"v"`
	ID      uint64             `json:"id"`
	Links   []string           `json:"links"`  // references, absolute or relative to the page
	Counts  map[string]float64 `json:"counts"` // what is added to counters.Sums, by name

	Drop   []int     `json:"drop"`   // places in LinkQuestion.Links, from 0, in any order
	Scores []float64 `json:"scores"` // of the first LinkQuestion.Links, as of --score

	Block    bool    `json:"block"`    // fetch nothing more of the host
	Budget   int     `json:"budget"`   // store so many pages of each of its sites; 0 for no budget
	Postpone float64 `json:"postpone"` // ask nothing of it for so many seconds
}

// Bounds of one answer.
const (
	answerMost = 4 << 20 // bytes
	linksMost  = 10_000
	countsMost = 64
	nameMost   = 64 // bytes of the name of a count

	postponeMost = 10 * 365 * 24 * time.Hour
)

// appendHead appends a frame without its body.
func appendHead(dst []byte, question head, body int) ([]byte, error) {
	text, err := json.Marshal(question)
	if err != nil {
		return dst, fmt.Errorf("hook: %w", err)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(text)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(body))
	return append(dst, text...), nil
}

// readAnswer reads one frame. io.EOF says that there is none.
func readAnswer(r *bufio.Reader) (a Answer, err error) {
	var lengths [8]byte
	if _, err = io.ReadFull(r, lengths[:]); err != nil {
		return a, err
	}
	head, body := binary.BigEndian.Uint32(lengths[:4]), binary.BigEndian.Uint32(lengths[4:])
	if head > answerMost || body > 0 {
		return a, fmt.Errorf("it wrote no frame: the lengths are %d and %d, not at most %d and 0", head, body, answerMost)
	}
	text := make([]byte, head)
	if _, err = io.ReadFull(r, text); err != nil {
		return a, errors.Join(errors.New("it ended within an answer"), err)
	}
	switch err = json.Unmarshal(text, &a); {
	case err != nil:
		return a, fmt.Errorf("an answer is not the JSON that it should be: %w", err)
	case a.Version != version:
		return a, fmt.Errorf("an answer has version %d, not %d", a.Version, version)
	case len(a.Links) > linksMost:
		return a, fmt.Errorf("an answer has %d links, more than %d", len(a.Links), linksMost)
	case slices.ContainsFunc(a.Drop, func(place int) bool { return place < 0 || place >= batchLinks }):
		return a, fmt.Errorf("an answer drops a link whose place is not 0 to %d", batchLinks-1)
	case len(a.Scores) > batchLinks:
		return a, fmt.Errorf("an answer has %d scores, more than %d", len(a.Scores), batchLinks)
	case a.Budget < 0 || a.Postpone < 0 || a.Postpone > postponeMost.Seconds():
		return a, fmt.Errorf("an answer has the budget %d and postpones by %g s: both are too small or too large",
			a.Budget, a.Postpone)
	case len(a.Counts) > countsMost:
		return a, fmt.Errorf("an answer has %d counts, more than %d", len(a.Counts), countsMost)
	}
	for name := range a.Counts {
		if !isName(name) {
			return a, fmt.Errorf("an answer has a count with the name %.100q: write letters, digits, _ and -", name)
		}
	}
	return a, nil
}

// isName reports whether a count may have the name, which becomes a label of a metric.
func isName(name string) bool {
	for i := range len(name) {
		if c := name[i] | 0x20; (c < 'a' || c > 'z') && (c < '0' || c > '9') && name[i] != '_' && name[i] != '-' {
			return false
		}
	}
	return name != "" && len(name) <= nameMost
}
