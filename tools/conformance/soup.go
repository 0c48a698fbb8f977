package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
)

// How much soup, and which. Another seed makes other documents; the score must be the same.
const (
	soups    = 100_000
	soupSeed = 9309
)

// soupDocuments scores made-up documents: a case passes if the two readers agree.
func soupDocuments(data fs.FS) (s score, err error) {
	all, err := readTokenCases(data)
	if err != nil {
		return s, err
	}
	j := newJudges()
	k := soupMaker{Rand: rand.New(rand.NewPCG(soupSeed, 1))}
	for _, c := range all {
		if len(c.Input) > 0 && len(c.Input) < 200 {
			k.inputs = append(k.inputs, c.Input)
		}
	}
	for n := 0; s.total < soups; n++ {
		doc := k.cook()
		if unjudged(doc) {
			s.skipped++
			continue
		}
		got, want := j.ours(doc), j.theirs(doc)
		name := ""
		if got != want {
			thin := k.thin(j, doc)
			if j.misread.MatchString(thin) {
				s.skipped++
				continue
			}
			name = fmt.Sprintf("document %d: %+q", n, thin)
		}
		s.judge(name, got, want)
	}
	return s, nil
}

// soupMaker makes tag soup.
type soupMaker struct {
	*rand.Rand
	inputs []string // of the published tests
	links  int
}

func (k *soupMaker) pick(list ...string) string { return list[k.IntN(len(list))] }

// cook makes one document.
func (k *soupMaker) cook() string {
	var b strings.Builder
	k.links = 0
	for range 1 + k.IntN(14) {
		switch k.IntN(8) {
		case 0, 1, 2:
			k.tag(&b)
		case 3:
			k.raw(&b)
		case 4:
			b.WriteString(k.inputs[k.IntN(len(k.inputs))])
		case 5:
			b.WriteString(
				k.pick("<template>", "</template>", "<noscript>", "</noscript>", "</div>", "</a>", "</p a='>'>", "<br/>"),
			)
		default:
			b.WriteString(k.text())
		}
	}
	return k.spoil(b.String())
}

func (k *soupMaker) ref() string {
	k.links++
	suffix := k.pick(
		"", "", "?a=1&b=2", "?a&amp;b", "&copy=1", "&copy;x", "&#x41;", "&#65b", "&notin;", "&notit;", "&bogus;", "&lt",
		"&", "?x=&quot;&eacute;", "&AMP", "#f", "&hellip;", "&#0;", "&#128;", "&#xD800;", "\u00e9", "a b", "=", "`",
	)
	return fmt.Sprintf("/%d%s", k.links, suffix)
}

func (k *soupMaker) tag(b *strings.Builder) {
	name := k.pick(
		"a", "a", "A", "img", "area", "iframe", "td", "object", "video", "link", "body", "div", "p", "b", "source", "embed",
		"table", "aa", "image", "frame", "track", "audio",
	)
	b.WriteString("<" + name)
	for range k.IntN(5) {
		b.WriteString(k.pick(" ", " ", "\n", "\t", "\f", "/", " / ", "\r\n"))
		switch k.IntN(8) {
		case 0:
			b.WriteString(k.pick(
				"class", "\"", "'q", "=x", "a=b>c", "data-x='<a href=no>'", "x=\">\"", "y= >", "z=", "<b", "w==v", "\"\"",
				"h\u00e9=1",
			))
		case 1:
			b.WriteString(k.pick("href", "src", "HREF", "data", "background", "poster"))
		default:
			name := k.pick("href", "src", "data", "poster", "background", "hReF")
			ref, space := k.ref(), k.pick("", "", " ", "\n\t")
			switch k.IntN(5) {
			case 0:
				b.WriteString(name + space + "='" + ref + "'")
			case 1:
				b.WriteString(name + "=" + space + ref)
			case 2:
				b.WriteString(name + "=\"" + ref)
			default:
				b.WriteString(name + space + "=" + space + "\"" + ref + k.pick("", " ", "\n") + "\"")
			}
		}
	}
	b.WriteString(k.pick(">", ">", ">", "/>", " >", "", "\">", "'>"))
}

func (k *soupMaker) raw(b *strings.Builder) {
	name := k.pick(
		"script", "script", "script", "textarea", "title", "xmp", "iframe", "noembed", "noframes", "noscript", "SCRIPT",
		"plaintext",
	)
	if name == "plaintext" && k.IntN(4) > 0 {
		name = "textarea"
	}
	b.WriteString("<" + name + k.pick("", " src=/raw", "/", " x='>'") + ">")
	for range k.IntN(6) {
		b.WriteString(k.pick(
			"var a='<a href=/no>';", "<!--", "-->", "<script>", "<script", "</script x", "<!-->", "<!--->", "</scriptx>",
			"</SCRIPT", "<script ", "--", "</title/", "</textarea>", "<a href=/raw>", "<", "</", "--!>", "<!- -", "</xmp", ">",
			"<script/>", "</script/",
		))
	}
	b.WriteString(k.pick("</"+name+">", "</"+strings.ToUpper(name)+"\n>", "</"+name+" a='>'>", "</"+name+"/>", ""))
}

func (k *soupMaker) text() string {
	return k.pick(
		"text", "a < b", "<", "</", "<>", "</>", "< a href=/no>", "<3", "&amp;", "]]>", "-->", "\"", "'", ">", "<!-->",
		"<!--->", "<!-- x -->", "<!-- <a href=/no> --!>", "<!---->", "<!doctype html>",
		"<!DOCTYPE html PUBLIC \"<a href=/no>\">", "<?php <a href=/no> ?>", "<!x y>", "</ a>", "</a b='>'>", "</p/>",
		"<![CDATA[", "<![CDATA[ <a href=/c> ]]>", "\u00e9", "\r\n", "<!-- - -- >", "<!--a--!b-->", "<!-- <!-- --> -->",
		"<!--<!-->", "<!-", "<!", "<!--", "--!>", "<a", "<a ", "<a href", "<a href=", "<a href='", "<%= x %>", "\u2028",
	)
}

// spoil does to some documents what bad copies do: pieces are missing, doubled, or have a byte of markup too many.
func (k *soupMaker) spoil(doc string) string {
	if len(doc) < 4 {
		return doc
	}
	a, b := k.IntN(len(doc)), k.IntN(len(doc))
	a, b = min(a, b), max(a, b)
	switch k.IntN(6) {
	case 0:
		doc = doc[:a] + doc[min(a+1+k.IntN(4), len(doc)):]
	case 1:
		doc = doc[:b] + doc[a:]
	case 2:
		doc = doc[:a] + k.pick("<", ">", "\"", "'", "=", "/", "!", "-", "&", ";", " ") + doc[a:]
	case 3:
		doc = doc[:b]
	}
	return strings.ToValidUTF8(doc, "")
}

// thin takes out of a document that the readers differ about whatever they differ without, for people to read.
func (*soupMaker) thin(j *judges, doc string) string {
	for size := len(doc) / 2; size > 0; {
		smaller := false
		for at := 0; at+size <= len(doc); {
			less := strings.ToValidUTF8(doc[:at]+doc[at+size:], "")
			if j.ours(less) != j.theirs(less) {
				doc, smaller = less, true
				continue
			}
			at += size
		}
		if !smaller {
			size /= 2
		}
	}
	return doc
}
