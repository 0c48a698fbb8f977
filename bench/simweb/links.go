package simweb

import "math"

// link is one reference on a page: what it names.
type link struct {
	to   target
	tree bool // part of the tree that makes every page reachable
}

// appendLinks appends what a page links to, in the order of the document. A page that may come to harm on its way, or
// shares its payload with others, links to its host's root only, or to nothing.
func (w *World) appendLinks(dst []link, h *host, t target, f *page) []link {
	if t.kind != kindPage || f.content != contentHTML || !f.shape.linked() || f.copy > 0 {
		if t.kind == kindLand || t.kind == kindPage && f.content == contentHTML && !f.shape.lost() {
			dst = append(dst, link{to: target{host: int32(h.index)}})
		}
		return dst
	}
	p := int(t.page)
	r := rng(w.hash(saltLinks, h.index, p))
	tree := 0
	for k := p*w.c.PageFanout + 1; k <= p*w.c.PageFanout+w.c.PageFanout && k < h.pages; k++ {
		dst = append(dst, link{to: target{host: int32(h.index), page: uint32(k)}, tree: true})
		tree++
	}
	if p == 0 {
		for k := h.index*w.c.HostFanout + 1; k <= h.index*w.c.HostFanout+w.c.HostFanout && k < w.c.Hosts; k++ {
			dst = append(dst, link{to: target{host: int32(k)}, tree: true})
			tree++
		}
	}
	// Uniform between half and one and a half of the mean.
	extra := w.c.LinksMean/2 + r.below(w.c.LinksMean+1) - tree
	for ; extra > 0; extra-- {
		dst = append(dst, link{to: w.extraLink(&r, h)})
	}
	return dst
}

// extraLink draws a link beside the tree.
func (w *World) extraLink(r *rng, h *host) target {
	u := r.float()
	switch {
	case u < w.c.Faults.NoHost:
		return target{host: -1, kind: kindNoHost, page: uint32(r.below(max(10, w.c.Hosts/10)))}
	case u < w.c.Faults.NoHost+w.c.Faults.DeadLinks:
		return target{host: int32(h.index), kind: kindNowhere, page: uint32(r.below(1000))}
	}
	if r.float() >= w.c.ExternalShare {
		return target{host: int32(h.index), page: uint32(r.zipf(h.pages))}
	}
	// Popular hosts are those with low numbers; every second link from outside leads to the root.
	i := r.zipf(w.c.Hosts)
	if r.next()&1 == 0 {
		return target{host: int32(i)}
	}
	n := int(w.pages[w.hash(saltHost, i, 0)>>52])
	return target{host: int32(i), page: uint32(r.zipf(n))}
}

// linked says that a page of this shape arrives whole and readable at any sound crawler, so that links may hang on it.
func (s shape) linked() bool {
	switch s {
	case shapePlain, shapeChunked, shapeChunkedOdd, shapeGzip, shapeOddHeaders, shapeUntilClose:
		return true
	}
	return false
}

// lost says that a page of this shape never arrives whole, and nobody can say whether its links are read: it has none.
func (s shape) lost() bool { return s >= shapeNotFound }

// PagesTotal is the number of pages of all hosts: counted for worlds of up to a million hosts, else the mean.
func (w *World) PagesTotal() int64 {
	if w.c.Hosts > 1_000_000 {
		return int64(math.Round(float64(w.c.Hosts) * float64(w.c.PagesPerHostMean)))
	}
	var n int64
	for i := range w.c.Hosts {
		n += int64(w.pages[w.hash(saltHost, i, 0)>>52])
	}
	return n
}
