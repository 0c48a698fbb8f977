package hook

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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

// Answer is the head of an answer. It has no body.
type Answer struct {
	Version int                `json:"v"`
	ID      uint64             `json:"id"`
	Links   []string           `json:"links"`  // references, absolute or relative to the page
	Counts  map[string]float64 `json:"counts"` // what is added to counters.Sums, by name
}

// Bounds of one answer.
const (
	answerMost = 4 << 20 // bytes
	linksMost  = 10_000
	countsMost = 64
	nameMost   = 64 // bytes of the name of a count
)

// appendHead appends a frame without its body.
func appendHead(dst []byte, p *Page, body int) ([]byte, error) {
	head, err := json.Marshal(p)
	if err != nil {
		return dst, fmt.Errorf("hook: %w", err)
	}
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(head)))
	dst = binary.BigEndian.AppendUint32(dst, uint32(body))
	return append(dst, head...), nil
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
