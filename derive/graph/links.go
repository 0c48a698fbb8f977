package graph

import (
	"bytes"
	"io"
	"net/netip"
	"slices"

	"orbweaver/derive"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/parse"
	"orbweaver/internal/urlx"
)

// writer writes the runs of one WARC file.
type writer struct {
	out      io.Writer
	memory   int
	graphs   [kinds]collector
	domainOf []uint32 // of each host
	coder    runCoder
	page     source
	buffers  buffers
}

// source is the page whose links are added.
type source struct {
	url         []byte
	node, host  uint32
	hasHost     bool
	lastSite    []byte // of the target before, whose host is lastHost
	lastHost    uint32
	lastHasHost bool
}

// buffers are the memory of names.
type buffers struct{ base, target, name []byte }

// Add implements derive.FileWriter.
func (w *writer) Add(rec *derive.Record) error {
	if !rec.IsIndexed || rec.Head == nil || rec.Entry.Status < 200 || rec.Entry.Status >= 400 {
		return nil
	}
	url, err := urlx.Normalize(w.page.url[:0], rec.TargetURI)
	if err != nil {
		return nil //nolint:nilerr // dns:, urn: and so on are no pages
	}
	w.page.url = url
	if _, path := urlx.Split(url); bytes.Equal(path, []byte("/robots.txt")) {
		return nil
	}
	w.begin()
	w.addFields(rec)
	if rec.Entry.Status < 300 {
		w.addLinks(rec.Page())
	}
	return w.end()
}

// begin begins with the page of w.page.url, which has a capture.
func (w *writer) begin() {
	w.page.node, _ = w.graphs[pages].node(w.page.url)
	w.graphs[pages].stored[w.page.node] = true
	site, _ := urlx.Split(w.page.url)
	w.page.host, w.page.hasHost = w.host(site)
	if w.page.hasHost {
		w.graphs[hosts].stored[w.page.host] = true
	}
}

// end writes what was collected if it needs more memory than allowed.
func (w *writer) end() error {
	memory := 0
	for i := range w.graphs {
		memory += w.graphs[i].memory
	}
	if memory >= w.memory {
		return w.flush()
	}
	return nil
}

// addFields adds the links in the head.
func (w *writer) addFields(rec *derive.Record) {
	for i := range rec.Head.Fields {
		f := &rec.Head.Fields[i]
		value := []byte(f.Value)
		switch {
		case rec.Entry.Status >= 300 && isName(f.Name, "location"), isName(f.Name, "content-location"):
			w.link(w.page.url, value)
		case isName(f.Name, "refresh"):
			if target := parse.RefreshTarget(value); target != nil {
				w.link(w.page.url, target)
			}
		case isName(f.Name, "link"):
			parse.EachFieldLink(value, func(l *parse.Link) { w.link(w.page.url, l.Ref) })
		}
	}
}

// isName compares the name of a field with a name in lower case.
func isName(name, lower string) bool {
	return len(name) == len(lower) && bytes.EqualFold([]byte(name), []byte(lower))
}

// addLinks adds the links of a page.
func (w *writer) addLinks(res *parse.Result) {
	var base []byte
	base, w.buffers.base = urlx.Base(w.buffers.base, w.page.url, res.Base)
	for i := range res.Links {
		w.link(base, res.Links[i].Ref)
	}
}

// link adds one link of the page.
func (w *writer) link(base, ref []byte) {
	target, err := urlx.Resolve(w.buffers.target[:0], base, ref)
	if err != nil {
		return
	}
	w.buffers.target = target
	to, _ := w.graphs[pages].node(target)
	w.graphs[pages].link(w.page.node, to)
	if !w.page.hasHost {
		return
	}
	site, _ := urlx.Split(target)
	if !bytes.Equal(site, w.page.lastSite) {
		w.page.lastSite = append(w.page.lastSite[:0], site...)
		w.page.lastHost, w.page.lastHasHost = w.host(site)
	}
	if !w.page.lastHasHost || w.page.lastHost == w.page.host {
		return
	}
	w.graphs[hosts].link(w.page.host, w.page.lastHost)
	from, into := w.domainOf[w.page.host], w.domainOf[w.page.lastHost]
	if from != into {
		w.graphs[domains].link(from, into)
	}
}

// host returns the node of the host of a site; false for an address.
func (w *writer) host(site []byte) (node uint32, ok bool) {
	name := bytes.TrimPrefix(bytes.TrimSuffix(urlx.Host(site), []byte(".")), []byte("www."))
	if isAddress(name) {
		return 0, false
	}
	w.buffers.name = urlx.AppendReversed(w.buffers.name[:0], name, '.')
	node, isNew := w.graphs[hosts].node(w.buffers.name)
	if isNew {
		w.buffers.name = urlx.AppendReversed(w.buffers.name[:0], filter.Domain(name), '.')
		domain, _ := w.graphs[domains].node(w.buffers.name)
		w.domainOf = append(w.domainOf, domain)
	}
	return node, true
}

// isAddress reports whether a host is an IP address.
func isAddress(host []byte) bool {
	if len(host) == 0 || bytes.IndexByte(host, ':') >= 0 {
		return true
	}
	if last := host[len(host)-1]; last < '0' || last > '9' {
		return false
	}
	_, err := netip.ParseAddr(string(host))
	return err == nil
}

// flush writes what was collected.
func (w *writer) flush() error {
	for kind := range w.graphs {
		if err := w.graphs[kind].write(w.out, kind, &w.coder); err != nil {
			return err
		}
	}
	w.domainOf = w.domainOf[:0]
	w.page.lastSite = w.page.lastSite[:0]
	return nil
}

// Close implements derive.FileWriter.
func (w *writer) Close() error {
	if slices.ContainsFunc(w.graphs[:], func(c collector) bool { return len(c.names) > 0 }) {
		return w.flush()
	}
	return nil
}

// Abandon implements derive.FileWriter.
func (*writer) Abandon() {}
