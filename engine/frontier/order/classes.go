package order

import (
	"bytes"

	"orbweaver/engine/state/queued"
	"orbweaver/internal/urlx"
)

// classes are the queues of policies that have few of them. First is that with the least number. It has one user.
type classes struct {
	queued [Classes]uint64
	turns  uint64
}

// NoteLinks implements Policy.
func (*classes) NoteLinks([]byte, [][]byte) {}

// HasQueues implements Policy.
func (*classes) HasQueues() bool { return true }

// Owns implements Policy.
func (*classes) Owns(queue int) bool { return queue < Classes }

// Add implements Policy.
func (c *classes) Add(queue int, n uint64) { c.queued[queue] += n }

// Took implements Policy.
func (c *classes) Took(queue int) { c.queued[queue]-- }

// Largest implements Policy.
func (*classes) Largest(int) []Place { return nil }

// Next implements Policy. One URL in turnOfAny comes from any class, in turn, so that none starves.
func (c *classes) Next() (queue int, ok bool) {
	first := 0
	if c.turns++; c.turns%turnOfAny == 0 {
		first = int(c.turns / turnOfAny % Classes)
	}
	for i := range Classes {
		if queue := (first + i) % Classes; c.queued[queue] > 0 {
			return queue, true
		}
	}
	return 0, false
}

// bottomUp takes URLs in the deepest folders first, as Tarantula goes from the leaves of a tree of URLs to its root.
type bottomUp struct {
	classes
	state []byte // of another order, kept for a later run
}

// QueueOf implements Policy: the class is the number of slashes of the path, at most Classes.
func (*bottomUp) QueueOf(url *queued.URL) int {
	_, path := urlx.Split(url.Rest)
	path, _, _ = bytes.Cut(path, []byte("?"))
	return Classes - min(max(bytes.Count(path, []byte("/")), 1), Classes)
}

// Explain implements Policy.
func (b *bottomUp) Explain(url *queued.URL, _ bool) Explanation {
	return Explanation{
		Visit: Visit{Mode: ModeBottomUp}.String(), Class: b.QueueOf(url) + 1, Classes: Classes, By: "the folders of its path",
	}
}

// State implements Policy.
func (b *bottomUp) State() []byte { return b.state }
