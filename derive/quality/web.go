package quality

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"orbweaver/internal/vfs"
)

// Web is a web that is known as a whole, such as a simulated one, and the visits of a crawl to it.
type Web struct {
	Nodes  []Node
	Roots  []uint32 // seeds
	Visits []uint32 // nodes that the crawl has visited, each once, by the start of the request
	// Answers are the visits by the end of the answer.
	Answers []Visit
}

// Node is a page or redirect of a Web.
type Node struct {
	Site       uint32
	IsDocument bool
	Links      []Link // in the order of the page
}

// Link is a link to another node.
type Link struct {
	To          uint32
	IsRequisite bool
}

// Visit is an answer. The crawl had begun the first Earlier visits when it ended.
type Visit struct{ Node, Earlier uint32 }

// NewCrawl returns the visits to a Web. The caller closes the Crawl.
func NewCrawl(w *Web) (c *Crawl, err error) {
	n := len(w.Nodes)
	if n >= ofRequisite {
		return nil, fmt.Errorf("%d pages are too many", n)
	}
	c = &Crawl{
		sites: make([]uint32, n), isDocument: make([]bool, n), lists: make([]list, n), visited: len(w.Visits),
		roots: make([]uint32, 0, len(w.Roots)), answers: make([]Visit, 0, len(w.Answers)),
	}
	number := w.numbers()
	for _, root := range w.Roots {
		c.roots = append(c.roots, number[root])
	}
	for _, v := range w.Answers {
		c.answers = append(c.answers, Visit{number[v.Node], v.Earlier})
	}
	if c.file, err = vfs.Temporary(); err != nil {
		return nil, err
	}
	out := bufio.NewWriterSize(io.NewOffsetWriter(c.file, 0), 1<<20)
	linkedBy := make([]uint32, n) // the last node that links to a node, plus one
	var text []byte
	for i := range w.Nodes {
		node := number[i]
		c.sites[node], c.isDocument[node] = w.Nodes[i].Site, w.Nodes[i].IsDocument
		text = text[:0]
		for _, link := range w.Nodes[i].Links {
			to := number[link.To]
			if linkedBy[to] == node+1 {
				continue
			}
			linkedBy[to] = node + 1
			if link.IsRequisite {
				to |= ofRequisite
			}
			text = binary.LittleEndian.AppendUint32(text, to)
		}
		c.write(out, node, text)
	}
	if err := out.Flush(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// numbers returns the number of each node in the Crawl.
func (w *Web) numbers() []uint32 {
	number := make([]uint32, len(w.Nodes))
	for i := range number {
		number[i] = none
	}
	for i, node := range w.Visits {
		number[node] = uint32(i)
	}
	next := uint32(len(w.Visits))
	for i := range number {
		if number[i] == none {
			number[i] = next
			next++
		}
	}
	return number
}
