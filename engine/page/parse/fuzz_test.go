package parse

import (
	"bytes"
	"testing"
)

// workPerByte limits the bytes that the readers of a body process for each byte of it. Markup, a value in it, the
// document in that value, and a style in that document are separate readers; an invalid byte becomes three.
const workPerByte = 24

// FuzzScan: no bytes panic, the bounds hold, the work is linear, references lie inside the body or the arena, and a
// second Scan of the same body says the same. Bodies without foreign content must agree with the tokenizer of x/net.
func FuzzScan(f *testing.F) {
	for _, body := range []string{
		"<a href=x>", "<a href='&amp;&copy=&#x41;'>", "<!--><a href=x>--!>",
		"<script><!--<script></script>--></script><a href=y>",
		"<svg><title><a href=z></title>", "<img srcset='a 1x, b(,) 2x'>", "<meta charset=shift_jis><a href='\x95\\'>",
		"\xFF\xFE<\x00a\x00", "<?xml encoding='utf-16'?>", "a{b:url(c\\64)}", "<template><a href=x></template>",
		"<rss><item><link>x</link><enclosure url='y'/>", "<urlset><loc>http://a/&amp;</loc>",
		"<?xml-stylesheet href='x'?><a:b>",
		"<!--[if IE]><img src=a><![endif]--><noframes><a href=b></noframes>",
		"<applet codebase=a code=b.c><param name=src value=d>",
		"<rss xml:base='a/'><description>&lt;a href=b&gt;</description><item xml:base=c><encoded><![CDATA[<img src=d>",
		"<feed><content type=xhtml xml:base='//a'><div><a href=b/></div></content>",
		"<p>\xCD\xCE\xD6\xD0\xB9\xFA\xC8\xCB\xC3\xF1</p><a href=\xCD\xCE>", "<svg><style>/*<![CDATA[*/url(x)",
	} {
		f.Add([]byte(body), "text/html")
		f.Add([]byte(body), "text/css")
		f.Add([]byte(body), "text/xml")
		f.Add([]byte(body), "application/xhtml+xml; charset=gbk")
	}
	// each value could start a new guess of the character set
	f.Add(bytes.Repeat([]byte("<a href='\xC4?\xD6'>"), 500), "text/html")
	f.Add(bytes.Repeat([]byte("<svg><style>url(\xC4)<!--x-->url(y)<iframe srcdoc='<style>url(z)</style>' "+
		"style='url(v)'>"), 100), "text/html")
	f.Add(bytes.Repeat([]byte("<svg><style><![CDATA["), 500), "text/html")
	o := Options{LinksMax: 50, RefMax: 100, TitleMax: 20, Forms: true}
	detailed := o
	detailed.Text, detailed.Details = true, true
	f.Fuzz(func(t *testing.T, body []byte, media string) {
		s := NewScanner(o)
		before := bytes.Clone(body)
		r, _ := s.Scan(body, []byte(media))
		first := show(r)
		if len(r.Links) > o.LinksMax || len(r.Title) > o.TitleMax || len(r.Base) > o.RefMax {
			t.Fatalf("out of bounds: %d links", len(r.Links))
		}
		for _, l := range r.Links {
			if len(l.Ref) > o.RefMax || l.Kind >= kindCount {
				t.Fatalf("%v %q", l.Kind, l.Ref)
			}
		}
		if s.markup.elements.links.text.work > workPerByte*len(body) {
			t.Fatalf("%d bytes were given to readers, of a body of %d", s.markup.elements.links.text.work, len(body))
		}
		if !bytes.Equal(before, body) {
			t.Fatal("the body was changed")
		}
		if r, _ = s.Scan(body, []byte(media)); show(r) != first {
			t.Fatalf("scanned twice: %q and %q", first, show(r))
		}
		checkDetails(t, NewScanner(detailed), body, media, first)
		alone := detailed
		alone.Text = false
		checkSameElements(t, NewScanner(detailed), NewScanner(alone), body, []byte(media))
		folded := bytes.ToLower(body)
		for _, mark := range []string{"<svg", "<math", "\x00", "\xEF\xBB\xBF", "\xFE\xFF", "\xFF\xFE", "shadowrootmode",
			"srcset", "<input", "<!--[if", "cite", "longdesc", "lowsrc", "dynsrc", "codebase", "archive", "code", "manifest",
			"<param", "layer", "<bgsound", "<amp-"} {
			if bytes.Contains(folded, []byte(mark)) || bytes.Contains(body, []byte(mark)) {
				return
			}
		}
		if beginsFeed(body) {
			return
		}
		if !bytes.Contains(body, []byte("\r")) && len(body) < 4096 && ascii(body) {
			agree(t, NewScanner(Options{}), body)
		}
	})
}

// checkSameElements checks that the texts of links do not depend on the text around them.
func checkSameElements(t *testing.T, all, alone *Scanner, body, media []byte) {
	t.Helper()
	want, _ := all.Scan(body, media)
	got, _ := alone.Scan(body, media)
	if showElements(want) != showElements(got) {
		t.Fatalf("%s with the text, %s without", showElements(want), showElements(got))
	}
}

// checkDetails checks that details change nothing of the links, and that each text is a part of the page's text, in
// order.
func checkDetails(t *testing.T, s *Scanner, body []byte, media, links string) {
	t.Helper()
	r, _ := s.Scan(body, []byte(media))
	if show(r) != links {
		t.Fatalf("with details: %q and %q", links, show(r))
	}
	text := r.Text
	for i := range r.Elements {
		e := &r.Elements[i]
		at := bytes.Index(text, e.Text)
		if at < 0 || len(e.Text) > LinkTextMax || e.SheetFrom > e.SheetTo || e.SheetTo > len(r.Links) {
			t.Fatalf("%+v of %q", e, text)
		}
		text = text[at:]
	}
}

func ascii(b []byte) bool {
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
