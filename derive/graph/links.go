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

// Links finds the page of a record and what it links to, one record at a time. The zero value is ready.
type Links struct{ page, base, target []byte }

// Page returns the normal form of the page that a record captures: a status from 200 to 399, and not robots.txt. The
// URL is valid until the next call.
func (l *Links) Page(rec *derive.Record) (url []byte, ok bool) {
	if !rec.IsIndexed || rec.Head == nil || rec.Entry.Status < 200 || rec.Entry.Status >= 400 {
		return nil, false
	}
	url, err := urlx.Normalize(l.page[:0], rec.TargetURI)
	if err != nil {
		return nil, false // dns:, urn: and so on are no pages
	}
	l.page = url
	_, path := urlx.Split(url)
	return url, !bytes.Equal(path, []byte("/robots.txt"))
}

// Each calls f with the target and kind of each link of the page that Page returned: those of the head, then those of
// the body in its order. f borrows the target. Targets of redirects have the kind of meta elements that refresh.
func (l *Links) Each(rec *derive.Record, f func(target []byte, kind parse.Kind)) {
	l.eachField(rec, f)
	if rec.Entry.Status >= 300 {
		return
	}
	res := rec.Page()
	l.EachOf(l.page, res.Base, res.Links, f)
}

// EachOf calls f with the target and kind of each link of a payload, as if it were that of a page. base is that of the
// payload, nil for none. f borrows the target.
func (l *Links) EachOf(page, base []byte, links []parse.Link, f func(target []byte, kind parse.Kind)) {
	base, l.base = urlx.Base(l.base, page, base)
	for i := range links {
		l.resolve(base, &links[i], f)
	}
}

// eachField resolves the links in the head.
func (l *Links) eachField(rec *derive.Record, f func([]byte, parse.Kind)) {
	for i := range rec.Head.Fields {
		field := &rec.Head.Fields[i]
		value := []byte(field.Value)
		switch {
		case rec.Entry.Status >= 300 && isName(field.Name, "location"), isName(field.Name, "content-location"):
			l.resolve(l.page, &parse.Link{Kind: parse.MetaRefresh, Ref: value}, f)
		case isName(field.Name, "refresh"):
			if target := parse.RefreshTarget(value); target != nil {
				l.resolve(l.page, &parse.Link{Kind: parse.MetaRefresh, Ref: target}, f)
			}
		case isName(field.Name, "link"):
			parse.EachFieldLink(value, func(link *parse.Link) { l.resolve(l.page, link, f) })
		}
	}
}

// resolve calls f with one target.
func (l *Links) resolve(base []byte, link *parse.Link, f func([]byte, parse.Kind)) {
	target, err := urlx.Resolve(l.target[:0], base, link.Ref)
	if err != nil {
		return
	}
	l.target = target
	f(target, link.Kind)
}

// isName compares the name of a field with a name in lower case.
func isName(name, lower string) bool {
	return len(name) == len(lower) && bytes.EqualFold([]byte(name), []byte(lower))
}

// writer writes the runs of one WARC file.
type writer struct {
	out      io.Writer
	memory   int
	graphs   [kinds]collector
	domainOf []uint32 // of each host
	coder    runCoder
	links    Links
	page     source
	name     []byte // memory
}

// source is the page whose links are added.
type source struct {
	node, host  uint32
	hasHost     bool
	lastSite    []byte // of the target before, whose host is lastHost
	lastHost    uint32
	lastHasHost bool
}

// Add implements derive.FileWriter.
func (w *writer) Add(rec *derive.Record) error {
	url, ok := w.links.Page(rec)
	if !ok {
		return nil
	}
	w.begin(url)
	w.links.Each(rec, func(target []byte, _ parse.Kind) { w.link(target) })
	return w.end()
}

// begin begins with a page, which has a capture.
func (w *writer) begin(url []byte) {
	w.page.node, _ = w.graphs[pages].node(url)
	w.graphs[pages].stored[w.page.node] = true
	site, _ := urlx.Split(url)
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

// link adds one link of the page.
func (w *writer) link(target []byte) {
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
	w.name = urlx.AppendReversed(w.name[:0], name, '.')
	node, isNew := w.graphs[hosts].node(w.name)
	if isNew {
		w.name = urlx.AppendReversed(w.name[:0], filter.Domain(name), '.')
		domain, _ := w.graphs[domains].node(w.name)
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
	if slices.ContainsFunc(w.graphs[:], func(c collector) bool { return len(c.stored) > 0 }) {
		return w.flush()
	}
	return nil
}

// Abandon implements derive.FileWriter.
func (*writer) Abandon() {}
