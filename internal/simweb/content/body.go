package content

import (
	"strconv"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/corpus"
	"orbweaver/internal/simweb/draw"
)

// linkCost is about what a link adds to a page in bytes, beside the text.
const linkCost = 90

// Writer writes the bytes of pages. It is read only, and connections share it.
type Writer struct {
	model    *simweb.Model
	config   simweb.Config
	text     corpus.Text
	segments corpus.Segments // none if no host packs
}

// NewWriter makes the text that the pages of a model are cut of, which takes some ms, and 100 ms more if hosts pack.
func NewWriter(m *simweb.Model) *Writer {
	w := &Writer{model: m, config: m.Config(), text: corpus.NewText(m.Seed, corpus.AppendParagraph)}
	if w.config.GzipShare > 0 {
		w.segments = corpus.NewSegments(m.Seed)
	}
	return w
}

// AppendBody appends the payload of a page or landing page before any encoding, and notes its segments in d. It is the
// same at every call.
func (w *Writer) AppendBody(dst []byte, d *Document, h *simweb.Host, t simweb.Target, f *simweb.Page) []byte {
	r := draw.RNG(h.Hash(simweb.SaltBody, int(t.Page)) + uint64(t.Kind))
	d.start, d.marks = len(dst), d.marks[:0]
	d.list, d.parts = d.list[:0], d.parts[:0]
	switch {
	case f.Media == simweb.MediaPNG:
		return appendNoise(append(dst, "\x89PNG\r\n\x1a\n"...), &r, f.Bytes/2)
	case f.Media == simweb.MediaCSS:
		dst = append(dst, "body { margin: 0 }\n/*\n"...)
		if w.config.OwnWords {
			dst = append(corpus.AppendName(dst, uint64(r)), '\n')
		}
		return append(w.text.Append(dst, &r, f.Bytes/3), "*/\n"...)
	case f.Media == simweb.MediaPDF:
		return appendNoise(w.text.Append(append(dst, "%PDF-1.4\n"...), &r, f.Bytes/2), &r, f.Bytes/2)
	case f.Media == simweb.MediaScript:
		return appendScript(dst, h)
	case h.IsDrawn && h.IsOfTool(t, f):
		return appendEdition(w.appendShell(dst, d, h, t, f), h.Edition(t, f))
	case f.Copy > 0 && t.Kind == simweb.KindPage:
		r = draw.RNG(w.model.Hash(simweb.SaltCopy, int(f.Copy), 0))
		dst = append(dst, "<!DOCTYPE html>\n<html><head><title>Copy</title></head>\n<body>\n<a href=\"/\">start</a>\n"...)
		return append(w.text.Append(dst, &r, w.model.DrawBytes(&r)), "</body></html>\n"...)
	}
	start := len(dst)
	dst = w.appendHTML(dst, d, h, t, f, &r)
	if f.Shape == simweb.ShapeHuge && t.Kind == simweb.KindPage {
		dst = w.text.Append(dst, &r, w.config.Timing.HugeBytes-(len(dst)-start))
	}
	return appendEdition(dst, h.Edition(t, f))
}

// appendNoise appends n bytes that do not compress.
func appendNoise(dst []byte, r *draw.RNG, n int) []byte {
	for ; n > 0; n -= 8 {
		x := r.Next()
		dst = append(dst, byte(x), byte(x>>8), byte(x>>16), byte(x>>24), byte(x>>32), byte(x>>40), byte(x>>48), byte(x>>56))
	}
	return dst
}

func (w *Writer) appendHTML(
	dst []byte, d *Document, h *simweb.Host, t simweb.Target, f *simweb.Page, r *draw.RNG,
) []byte {
	start := len(dst)
	d.model, d.h = w.model, *h
	d.path = h.AppendPath(d.path[:0], t)
	d.base = append(d.base[:0], directory(d.path)...)
	d.list = h.AppendLinks(d.list[:0], t, f)

	dst = append(dst, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>"...)
	dst = append(dst, corpus.Word(f.Words)...)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, int64(t.Page), 10)
	dst = append(dst, " at "...)
	dst = h.AppendName(dst)
	if w.config.OwnWords {
		dst = corpus.AppendName(append(dst, ": "...), h.Hash(simweb.SaltBody, int(t.Page)))
	}
	dst = append(dst, "</title>\n"...)
	if !w.config.PlainLinks {
		dst = d.writeSteering(dst, r)
	}
	dst = append(dst, "</head>\n<body class=\"page\">\n"...)
	if w.config.Topics > 0 {
		dst = append(w.model.AppendTopic(append(dst, "<p>"...), h.Index), "</p>\n"...)
	}
	if !w.config.PlainLinks {
		dst = w.appendTrap(dst, d, r)
	}

	links, frame := d.list, tool{}
	if h.IsOfTool(t, f) {
		links, frame = d.list[:len(d.list)-1], tools[h.Tool]
	}
	dst = w.appendFrame(dst, d, frame.before, t)
	each := 1 // links between two stretches of text
	if h.Gzip {
		each = max(len(links)*corpus.LargeSegment/max(f.Bytes, 1), 1) // a large segment in each
	}
	for k := range links {
		if k%each == 0 {
			left := f.Bytes - (len(dst) - start) - linkCost*(len(links)-k)
			dst = w.appendText(dst, d, r, left/((len(links)-k+each-1)/each))
		}
		dst = w.appendAnchor(dst, d, r, links[k].Target)
	}
	dst = w.appendText(dst, d, r, f.Bytes-(len(dst)-start)-20)
	dst = w.appendFrame(dst, d, frame.after, t)
	return append(dst, "</body>\n</html>\n"...)
}

// writeSteering appends what of a head bears on links, on some pages: a base element, a refresh.
func (d *Document) writeSteering(dst []byte, r *draw.RNG) []byte {
	if r.Below(10) == 0 {
		dst = d.writeBase(dst, r)
	}
	if len(d.list) > 0 && r.Below(16) == 0 {
		d.spell(r, d.list[0].Target, true)
		dst = append(dst, "<meta http-equiv=\"refresh\" content=\"30; URL="...)
		dst = appendEscaped(dst, d.ref)
		dst = append(dst, "\">\n"...)
	}
	return dst
}

// appendText appends about n bytes of text.
func (w *Writer) appendText(dst []byte, d *Document, r *draw.RNG, n int) []byte {
	if d.h.Gzip {
		dst, d.marks = w.segments.Append(dst, d.marks, d.start, r, n)
		return dst
	}
	return w.text.Append(dst, r, n)
}

// writeBase appends a base element and makes d.base what it says.
func (d *Document) writeBase(dst []byte, r *draw.RNG) []byte {
	d.base = append(d.base[:0], '/')
	for k := r.Below(3); k > 0; k-- {
		d.base = append(append(d.base, corpus.Word(uint32(r.Next()))...), '/')
	}
	dst = append(dst, "<base href=\""...)
	if r.Below(2) == 0 {
		dst = d.h.AppendOrigin(dst)
	}
	dst = append(dst, d.base...)
	if r.Below(2) == 0 {
		dst = append(dst, "index.html"...)
	}
	return append(dst, "\">\n"...)
}

func appendEscaped(dst, ref []byte) []byte {
	for _, c := range ref {
		if c == '&' {
			dst = append(dst, "&amp;"...)
		} else {
			dst = append(dst, c)
		}
	}
	return dst
}

// appendAnchor appends an element that links to t.
func (w *Writer) appendAnchor(dst []byte, d *Document, r *draw.RNG, t simweb.Target) []byte {
	var f simweb.Page
	if t.Kind == simweb.KindPage {
		th := &d.h
		if int(t.Host) != d.h.Index {
			other := w.model.HostAt(int(t.Host))
			th = &other
		}
		f = th.PageAt(int(t.Page))
	}
	d.parts = append(d.parts, f.Media == simweb.MediaPNG || f.Media == simweb.MediaCSS)
	if w.config.PlainLinks {
		return w.appendPlain(dst, d, r, t, f.Media)
	}
	way := r.Below(20)
	if d.h.Tool != simweb.NoTool && f.Media == simweb.MediaHTML {
		way = max(way, 5) // tools write <a>
	}
	if f.Media == simweb.MediaPDF && way < 3 || f.Media == simweb.MediaHTML && way == 1 {
		d.parts[len(d.parts)-1] = true
	}
	open, end := "<p class=\"nav\"><a class=\"link\" href", ">"
	switch {
	case f.Media == simweb.MediaPNG && way < 12:
		open, end = "<img alt=\"\" src", " width=100>\n"
	case f.Media == simweb.MediaPNG:
		d.spell(r, t, true)
		dst = append(dst, "<img alt='' srcset=\""...)
		dst = appendEscaped(dst, d.ref)
		dst = append(dst, " 2x, "...)
		dst = appendEscaped(dst, d.ref)
		return append(dst, " 1x\">\n"...)
	case f.Media == simweb.MediaCSS:
		open, end = "<link rel=stylesheet href", " media=\"all\">\n"
	case f.Media == simweb.MediaPDF && way < 3:
		open, end = "<embed src", " type=\"application/pdf\">\n"
	case way == 0:
		open, end = "<map name=m><area shape=default href", " alt=x></map>\n"
	case way == 1:
		open, end = "<iframe src", "></iframe>\n"
	case way == 2:
		open, end = "<noscript><a href", ">plain</a></noscript>\n"
	case way == 3:
		open, end = "<A\nREL=nofollow  HREF ", ">"
	case way == 4:
		open, end = "<link rel=next href", " />\n"
	}
	d.spell(r, t, false)
	dst = append(dst, open...)
	dst = d.attribute(dst, r)
	dst = append(dst, end...)
	if end == ">" {
		dst = w.appendAnchorText(dst, r, t)
		dst = append(dst, "</a></p>\n"...)
	}
	return dst
}

// appendAnchorText appends the text of a link to t.
func (w *Writer) appendAnchorText(dst []byte, r *draw.RNG, t simweb.Target) []byte {
	dst = append(dst, corpus.Word(uint32(r.Next()))...)
	if w.config.Topics > 0 && t.Host >= 0 && r.Below(2) == 0 {
		dst = w.model.AppendTopic(append(dst, ' '), int(t.Host))
	}
	return dst
}

// appendPlain appends the simplest element that links to t.
func (w *Writer) appendPlain(
	dst []byte, d *Document, r *draw.RNG, t simweb.Target, content simweb.MediaType,
) []byte {
	open, end := "<p class=\"nav\"><a href=\"", ""
	switch content {
	case simweb.MediaPNG:
		open, end = "<img alt=\"\" src=\"", "\">\n"
	case simweb.MediaCSS:
		open, end = "<link rel=\"stylesheet\" href=\"", "\">\n"
	}
	d.spell(r, t, true)
	dst = appendEscaped(append(dst, open...), d.ref)
	if end != "" {
		return append(dst, end...)
	}
	dst = w.appendAnchorText(append(dst, "\">"...), r, t)
	return append(dst, "</a></p>\n"...)
}

// trapKinds is the number of things that look like links and are none.
const trapKinds = 10

// appendTrap appends, on one page of four, something that must not be followed.
func (w *Writer) appendTrap(dst []byte, d *Document, r *draw.RNG) []byte {
	k := r.Below(4 * trapKinds)
	if k >= trapKinds {
		return dst
	}
	around := [trapKinds][2]string{
		{"<!-- <a href=\"", "\">old</a> -->\n"},
		{"<script>document.write('<a href=\"", "\">x</a>');</script>\n"},
		{"<textarea><a href=\"", "\">x</a></textarea>\n"},
		{"<template><a href=\"", "\">x</a></template>\n"},
		{"<style>/* <a href=\"", "\">x</a> */</style>\n"},
		{"<a href=\"javascript:go('", "')\">x</a>\n"},
		{"<a href=\"mailto:someone@example.test?subject=", "\">x</a>\n"},
		{"<blockquote cite=\"", "\">x</blockquote>\n"},
		{"<a data-href=\"", "\" name=x>x</a>\n"},
		{"<a href=\"data:text/html,", "\">x</a>\n"},
	}[k]
	dst = append(dst, around[0]...)
	trap := simweb.Target{Host: int32(d.h.Index), Kind: simweb.KindTrap, Step: uint8(k), Page: uint32(r.Below(1000))}
	dst = d.h.AppendPath(dst, trap)
	return append(dst, around[1]...)
}

// Pack returns the gzip form of the page that was written last, whose payload this is. It is valid until the next page.
func (d *Document) Pack(payload []byte) []byte {
	d.packed = d.packer.Gzip(d.packed[:0], payload, d.marks)
	return d.packed
}

// EachLink calls f with each link of the page that was written last, and says whether the page embeds its target.
func (d *Document) EachLink(f func(to simweb.Target, isPart bool)) {
	for i, isPart := range d.parts {
		f(d.list[i].Target, isPart)
	}
}

// AppendPayload appends what a whole answer with status 200 carries; ok is false if the target has no such answer.
func (w *Writer) AppendPayload(dst []byte, d *Document, t simweb.Target, gzip bool) ([]byte, bool) {
	if t.Kind != simweb.KindPage && t.Kind != simweb.KindLand && t.Kind != simweb.KindBundle {
		return dst, false
	}
	h := w.model.HostAt(int(t.Host))
	f := h.FactsOf(t)
	if t.Kind == simweb.KindPage && f.Shape.IsLost() {
		return dst, false
	}
	at := len(dst)
	dst = w.AppendBody(dst, d, &h, t, &f)
	shape := f.Shape
	if t.Kind != simweb.KindPage {
		shape = simweb.ShapePlain
	}
	switch {
	case shape == simweb.ShapeGzip:
		dst = append(dst[:at], corpus.Gzipped(dst[at:])...)
	case gzip && h.Packs(&f, shape):
		dst = append(dst[:at], d.Pack(dst[at:])...)
	}
	return dst, true
}

// appendEdition appends to a page what it has beside its first text.
func appendEdition(dst []byte, edition int) []byte {
	if edition == 0 {
		return dst
	}
	dst = append(dst, "<!-- edition "...)
	return append(strconv.AppendInt(dst, int64(edition), 10), " -->\n"...)
}
