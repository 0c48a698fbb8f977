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

// answer is the head of an answer. It has no body.
type answer struct {
	Version int              `json:"v"`
	ID      uint64           `json:"id"`
	Links   []string         `json:"links"`
	Counts  map[string]int64 `json:"counts"`
}

// Bounds of one answer.
const (
	answerMost = 4 << 20 // bytes
	linksMost  = 10_000
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
func readAnswer(r *bufio.Reader) (a answer, err error) {
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
	}
	return a, nil
}
