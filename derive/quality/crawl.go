package quality

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"orbweaver/derive/graph"
	"orbweaver/engine/page/parse"
	"orbweaver/internal/vfs"
)

// Crawl are the nodes of a crawl, numbered from 0 in the order of their visits, and the links among them. What
// the crawl has not visited has the highest numbers.
type Crawl struct {
	// Outside is the number of links to what has no capture, each once on a page and as often as it stands there.
	Outside int64

	sites      []uint32 // of each node
	isDocument []bool
	visited    int      // nodes
	roots      []uint32 // nodes: seeds; nil if no seed is known
	sitemaps   []uint32 // nodes, sorted
	answers    []Visit  // by their ends; of an archive, in the order of visits
	file       vfs.File // the lists: node, number of successors, successors; 4 bytes each
	lists      []list   // of each node
	size       int64    // of file
	buffer     []uint32 // successors
}

// ofRequisite is set in a successor to which the page links as to a requisite.
const ofRequisite = 1 << 31

// list is where the successors of a node are in the file, in bytes.
type list struct {
	at int64
	n  uint32
}

// capture is a visit while captures are sorted.
type capture struct {
	page, site uint64
	date       int64
	place      uint64 // in the parts, counted in captures
	isDocument bool
	isSitemap  bool
}

// open reads parts, whose fingerprints have a seed. seeds are the fingerprints of the URLs from which the crawl began.
// The caller closes the Crawl.
func open(fsys vfs.FS, parts []string, seed uint64, seeds []uint64) (*Crawl, error) {
	captures, marked, err := firstCaptures(fsys, parts)
	if err != nil {
		return nil, err
	}
	if len(captures) >= ofRequisite {
		return nil, fmt.Errorf("%d pages are too many", len(captures))
	}
	c := &Crawl{
		sites: make([]uint32, len(captures)), isDocument: make([]bool, len(captures)), lists: make([]list, len(captures)),
	}
	c.visited = len(captures)
	sites := make(map[uint64]uint32)
	for i := range captures {
		v := &captures[i]
		site, ok := sites[v.site]
		if !ok {
			site = uint32(len(sites))
			sites[v.site] = site
		}
		c.sites[i], c.isDocument[i] = site, v.isDocument
		if v.isSitemap {
			c.sitemaps = append(c.sitemaps, uint32(i))
		}
	}
	if c.file, err = vfs.Temporary(); err != nil {
		return nil, err
	}
	known := newNumbers(captures)
	isSeed := make(map[uint32]bool)
	for _, url := range slices.Concat(seeds, marked) {
		if node, ok := known.find(url); ok && !isSeed[node] {
			isSeed[node] = true
			c.roots = append(c.roots, node)
		}
	}
	if err := c.copyLinks(fsys, parts, known, seed); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close frees the links.
func (c *Crawl) Close() error { return c.file.Close() }

// firstCaptures returns the first capture of each page, by date, and the pages that are marked as seeds.
func firstCaptures(fsys vfs.FS, parts []string) (captures []capture, seeds []uint64, err error) {
	byTime := func(a, b capture) int { return cmp.Or(cmp.Compare(a.date, b.date), cmp.Compare(a.place, b.place)) }
	compact := func() {
		slices.SortFunc(captures, func(a, b capture) int { return cmp.Or(cmp.Compare(a.page, b.page), byTime(a, b)) })
		captures = slices.CompactFunc(captures, func(a, b capture) bool { return a.page == b.page })
	}
	place, most := uint64(0), 1<<12
	for _, name := range parts {
		err := eachVisit(fsys, name, func(v *visit, _ io.Reader) error {
			if v.isSeed {
				seeds = append(seeds, v.page)
				return nil
			}
			if len(captures) >= most { // later captures of known pages take no more memory than pages
				compact()
				most = max(most, 2*len(captures))
			}
			captures = append(captures, capture{v.page, v.site, v.date, place, v.isDocument, v.isSitemap})
			place++
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	compact()
	slices.SortFunc(captures, byTime)
	return captures, seeds, nil
}

// numbers finds the node of a page.
type numbers struct {
	pages  []uint64 // sorted
	nodes  []uint32
	places []uint64 // of the first capture of each node
}

func newNumbers(captures []capture) *numbers {
	n := &numbers{
		pages: make([]uint64, len(captures)), nodes: make([]uint32, len(captures)), places: make([]uint64, len(captures)),
	}
	for i := range captures {
		n.nodes[i], n.places[i] = uint32(i), captures[i].place
	}
	slices.SortFunc(n.nodes, func(a, b uint32) int { return cmp.Compare(captures[a].page, captures[b].page) })
	for i, node := range n.nodes {
		n.pages[i] = captures[node].page
	}
	return n
}

func (n *numbers) find(page uint64) (node uint32, ok bool) {
	i, ok := slices.BinarySearch(n.pages, page)
	if !ok {
		return 0, false
	}
	return n.nodes[i], true
}

// copier writes the links of the first capture of each page.
type copier struct {
	*Crawl

	known    *numbers
	seed     uint64 // of the fingerprints
	out      *bufio.Writer
	linkedBy []uint32             // the last node that links to a node, plus one
	text     []byte               // successors of the node at hand
	waiting  map[uint64][]revisit // by payload
	fsys     vfs.FS
	parts    []string
	in       []byte // links and source of the revisit at hand
	links    graph.Links
	refs     []parse.Link
}

// revisit is a first capture that has no payload. That of another capture has its links.
type revisit struct {
	at            int64 // of its links in the part, in bytes
	links, source uint32
	node, part    uint32
}

// read reads the targets of the links in the head of a revisit, and its URL. They are valid until the next call.
func (c *copier) read(r revisit) (head, url []byte, err error) {
	name, n := c.parts[r.part], 8*int(r.links)+int(r.source)
	file, err := c.fsys.Open(name)
	if err != nil {
		return nil, nil, err
	}
	c.in = slices.Grow(c.in[:0], n)[:n]
	if _, err = file.ReadAt(c.in, r.at); err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return c.in[:8*r.links], c.in[8*r.links:], errors.Join(err, file.Close())
}

// begin begins with the links of a node.
func (c *copier) begin(node uint32, targets []byte) {
	c.text = c.text[:0]
	for ; len(targets) > 0; targets = targets[8:] {
		c.add(node, binary.LittleEndian.Uint64(targets))
	}
}

// add adds a link of a node, once.
func (c *copier) add(node uint32, link uint64) {
	switch to, ok := c.known.find(link &^ 1); {
	case !ok:
		c.Outside++
	case c.linkedBy[to] != node+1:
		c.linkedBy[to] = node + 1
		c.text = binary.LittleEndian.AppendUint32(c.text, to|uint32(link&1)<<31)
	}
}

// eachFirst calls f with the first capture of each page, its part, its targets and its source. It calls f also with
// others that have a payload that a revisit waits for.
func (c *copier) eachFirst(f func(node uint32, isFirst bool, part int, v *visit, targets, source []byte) error) error {
	place := uint64(0)
	var in []byte
	for part, name := range c.parts {
		err := eachVisit(c.fsys, name, func(v *visit, links io.Reader) error {
			if v.isSeed {
				return nil
			}
			node, _ := c.known.find(v.page)
			place++
			isFirst := c.known.places[node] == place-1
			if !isFirst && c.waiting[v.payload] == nil {
				return nil
			}
			n := 8*int(v.links) + int(v.source)
			in = slices.Grow(in[:0], n)[:n]
			if _, err := io.ReadFull(links, in); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			return f(node, isFirst, part, v, in[:8*v.links], in[8*v.links:])
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// copyLinks writes the links of the first capture of each page.
func (c *Crawl) copyLinks(fsys vfs.FS, parts []string, known *numbers, seed uint64) error {
	w := copier{
		Crawl: c, known: known, seed: seed, out: bufio.NewWriterSize(io.NewOffsetWriter(c.file, 0), 1<<20),
		linkedBy: make([]uint32, len(c.lists)), fsys: fsys, parts: parts, waiting: map[uint64][]revisit{},
	}
	err := w.eachFirst(func(node uint32, isFirst bool, part int, v *visit, _, _ []byte) error {
		if isFirst && v.isRevisit && v.payload != 0 {
			w.waiting[v.payload] = append(w.waiting[v.payload], revisit{v.at, v.links, v.source, node, uint32(part)})
		}
		return nil
	})
	if err != nil {
		return err
	}
	err = w.eachFirst(func(node uint32, isFirst bool, _ int, v *visit, targets, source []byte) error {
		if isFirst && (!v.isRevisit || v.payload == 0) {
			w.begin(node, targets)
			c.write(w.out, node, w.text)
		}
		if !v.isRevisit && v.source > 0 {
			return w.payload(v.payload, source)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for digest := range w.waiting { // which is not in the archive
		if err := w.payload(digest, nil); err != nil {
			return err
		}
	}
	return w.out.Flush()
}

// payload writes the links of the revisits that have a payload. Without a source they have those of the head alone.
func (c *copier) payload(digest uint64, source []byte) error {
	for _, r := range c.waiting[digest] {
		head, url, err := c.read(r)
		if err != nil {
			return err
		}
		c.begin(r.node, head)
		var base []byte
		if c.refs = c.refs[:0]; len(source) > 0 {
			base, c.refs = readSource(source, c.refs)
		}
		c.links.EachOf(url, base, c.refs, func(target []byte, kind parse.Kind) {
			c.add(r.node, linkOf(c.seed, target, kind))
		})
		c.write(c.out, r.node, c.text)
	}
	delete(c.waiting, digest)
	return nil
}

// write writes the successors of a node, 4 bytes each. The caller flushes.
func (c *Crawl) write(out *bufio.Writer, node uint32, successors []byte) {
	n := uint32(len(successors) / 4)
	c.lists[node] = list{c.size + 8, n}
	c.size += 8 + int64(len(successors))
	var head [8]byte
	binary.LittleEndian.PutUint32(head[:], node)
	binary.LittleEndian.PutUint32(head[4:], n)
	_, _ = out.Write(head[:]) // bufio keeps the first error for Flush
	_, _ = out.Write(successors)
}

// links reads the successors of a node from its number from on, most of them at once, into dst.
func (c *Crawl) links(dst []uint32, node uint32, from, most int) ([]uint32, error) {
	l := c.lists[node]
	n := min(int(l.n)-from, most)
	if n <= 0 {
		return dst[:0], nil
	}
	b := make([]byte, 4*n)
	if _, err := c.file.ReadAt(b, l.at+4*int64(from)); err != nil {
		return nil, err
	}
	return decode(dst[:0], b), nil
}

func decode(dst []uint32, b []byte) []uint32 {
	for ; len(b) > 0; b = b[4:] {
		dst = append(dst, binary.LittleEndian.Uint32(b))
	}
	return dst
}

// each calls f with the successors of each node, in the order of the file. f borrows them.
func (c *Crawl) each(ctx context.Context, f func(node uint32, successors []uint32)) error {
	in := bufio.NewReaderSize(io.NewSectionReader(c.file, 0, c.size), 1<<20)
	var head [8]byte
	var b []byte
	var successors []uint32
	for range c.lists {
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		n := 4 * int(binary.LittleEndian.Uint32(head[4:]))
		b = slices.Grow(b[:0], n)[:n]
		if _, err := io.ReadFull(in, b); err != nil {
			return err
		}
		successors = decode(successors[:0], b)
		f(binary.LittleEndian.Uint32(head[:]), successors)
	}
	return context.Cause(ctx)
}
