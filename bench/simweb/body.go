package simweb

import "strconv"

// linkCost is about what a link adds to a page in bytes, beside the text.
const linkCost = 90

// appendBody appends the payload of a page or landing page before any encoding, and notes its islands in d. It is the
// same at every call.
func (w *World) appendBody(dst []byte, d *doc, h *host, t target, f *page) []byte {
	r := rng(w.hash(saltBody, h.index, int(t.page)) + uint64(t.kind))
	d.start, d.marks = len(dst), d.marks[:0]
	switch {
	case f.content == contentPNG:
		return appendNoise(append(dst, "\x89PNG\r\n\x1a\n"...), &r, f.size/2)
	case f.content == contentCSS:
		return append(w.sea.fill(append(dst, "body { margin: 0 }\n/*\n"...), &r, f.size/3), "*/\n"...)
	case f.content == contentPDF:
		return appendNoise(w.sea.fill(append(dst, "%PDF-1.4\n"...), &r, f.size/2), &r, f.size/2)
	case f.copy > 0 && t.kind == kindPage:
		r = rng(w.hash(saltCopy, int(f.copy), 0))
		dst = append(dst, "<!DOCTYPE html>\n<html><head><title>Copy</title></head>\n<body>\n<a href=\"/\">start</a>\n"...)
		return append(w.sea.fill(dst, &r, int(w.sizes[r.below(len(w.sizes))])), "</body></html>\n"...)
	}
	start := len(dst)
	dst = w.appendHTML(dst, d, h, t, f, &r)
	if f.shape == shapeHuge && t.kind == kindPage {
		dst = w.sea.fill(dst, &r, w.c.Timing.HugeBytes-(len(dst)-start))
	}
	return appendEdition(dst, w.editionOf(h, t, f))
}

// appendNoise appends n bytes that do not compress.
func appendNoise(dst []byte, r *rng, n int) []byte {
	for ; n > 0; n -= 8 {
		x := r.next()
		dst = append(dst, byte(x), byte(x>>8), byte(x>>16), byte(x>>24), byte(x>>32), byte(x>>40), byte(x>>48), byte(x>>56))
	}
	return dst
}

func (w *World) appendHTML(dst []byte, d *doc, h *host, t target, f *page, r *rng) []byte {
	start := len(dst)
	d.w, d.h = w, *h
	d.path = w.appendTarget(d.path[:0], h, t)
	d.base = append(d.base[:0], directory(d.path)...)
	d.list = w.appendLinks(d.list[:0], h, t, f)

	dst = append(dst, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>"...)
	dst = append(dst, word(f.words)...)
	dst = append(dst, ' ')
	dst = strconv.AppendInt(dst, int64(t.page), 10)
	dst = append(dst, " at "...)
	dst = w.appendName(dst, h)
	dst = append(dst, "</title>\n"...)
	if !w.c.PlainLinks {
		dst = d.writeSteering(dst, r)
	}
	dst = append(dst, "</head>\n<body class=\"page\">\n"...)
	if !w.c.PlainLinks {
		dst = w.appendTrap(dst, d, r)
	}

	each := 1 // links between two stretches of text
	if h.gzip {
		each = max(len(d.list)*islandLarge/max(f.size, 1), 1) // a large island in each
	}
	for k := range d.list {
		if k%each == 0 {
			left := f.size - (len(dst) - start) - linkCost*(len(d.list)-k)
			dst = w.appendText(dst, d, r, left/((len(d.list)-k+each-1)/each))
		}
		dst = w.appendAnchor(dst, d, r, d.list[k].to)
	}
	dst = w.appendText(dst, d, r, f.size-(len(dst)-start)-20)
	return append(dst, "</body>\n</html>\n"...)
}

// writeSteering appends what of a head bears on links, on some pages: a base element, a refresh.
func (d *doc) writeSteering(dst []byte, r *rng) []byte {
	if r.below(10) == 0 {
		dst = d.writeBase(dst, r)
	}
	if len(d.list) > 0 && r.below(16) == 0 {
		d.spell(r, d.list[0].to, true)
		dst = append(dst, "<meta http-equiv=\"refresh\" content=\"30; URL="...)
		dst = appendEscaped(dst, d.ref)
		dst = append(dst, "\">\n"...)
	}
	return dst
}

// appendText appends about n bytes of text.
func (w *World) appendText(dst []byte, d *doc, r *rng, n int) []byte {
	if d.h.gzip {
		return w.islands.fill(dst, d, r, n)
	}
	return w.sea.fill(dst, r, n)
}

// writeBase appends a base element and makes d.base what it says.
func (d *doc) writeBase(dst []byte, r *rng) []byte {
	d.base = append(d.base[:0], '/')
	for k := r.below(3); k > 0; k-- {
		d.base = append(append(d.base, word(uint32(r.next()))...), '/')
	}
	dst = append(dst, "<base href=\""...)
	if r.below(2) == 0 {
		dst = d.w.appendOrigin(dst, &d.h)
	}
	dst = append(dst, d.base...)
	if r.below(2) == 0 {
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
func (w *World) appendAnchor(dst []byte, d *doc, r *rng, t target) []byte {
	var f page
	if t.kind == kindPage {
		th := &d.h
		if int(t.host) != d.h.index {
			other := w.hostAt(int(t.host))
			th = &other
		}
		f = w.pageAt(th, int(t.page))
	}
	if w.c.PlainLinks {
		return d.writePlain(dst, r, t, f.content)
	}
	way := r.below(20)
	open, end := "<p class=\"nav\"><a class=\"link\" href", ">"
	switch {
	case f.content == contentPNG && way < 12:
		open, end = "<img alt=\"\" src", " width=100>\n"
	case f.content == contentPNG:
		d.spell(r, t, true)
		dst = append(dst, "<img alt='' srcset=\""...)
		dst = appendEscaped(dst, d.ref)
		dst = append(dst, " 2x, "...)
		dst = appendEscaped(dst, d.ref)
		return append(dst, " 1x\">\n"...)
	case f.content == contentCSS:
		open, end = "<link rel=stylesheet href", " media=\"all\">\n"
	case f.content == contentPDF && way < 3:
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
		dst = append(dst, word(uint32(r.next()))...)
		dst = append(dst, "</a></p>\n"...)
	}
	return dst
}

// writePlain appends the simplest element that links to t.
func (d *doc) writePlain(dst []byte, r *rng, t target, content content) []byte {
	open, end := "<p class=\"nav\"><a href=\"", ""
	switch content {
	case contentPNG:
		open, end = "<img alt=\"\" src=\"", "\">\n"
	case contentCSS:
		open, end = "<link rel=\"stylesheet\" href=\"", "\">\n"
	}
	d.spell(r, t, true)
	dst = appendEscaped(append(dst, open...), d.ref)
	if end != "" {
		return append(dst, end...)
	}
	dst = append(append(dst, "\">"...), word(uint32(r.next()))...)
	return append(dst, "</a></p>\n"...)
}

// trapKinds is the number of things that look like links and are none.
const trapKinds = 10

// appendTrap appends, on one page of four, something that must not be followed.
func (w *World) appendTrap(dst []byte, d *doc, r *rng) []byte {
	k := r.below(4 * trapKinds)
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
	dst = w.appendTarget(dst, &d.h, target{host: int32(d.h.index), kind: kindTrap, n: uint8(k), page: uint32(r.below(1000))})
	return append(dst, around[1]...)
}
