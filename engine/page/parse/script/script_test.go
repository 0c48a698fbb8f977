package script

import (
	"bytes"
	"strings"
	"testing"

	"orbweaver/internal/cputime"
	"orbweaver/internal/invariants"
)

// all returns the links of a script, one in each line; imports have "import " in front.
func all(r *Reader, b []byte, place Place) string {
	var out strings.Builder
	r.Begin()
	r.Open(b, place)
	for l, ok := r.Next(); ok; l, ok = r.Next() {
		if l.IsImport {
			out.WriteString("import ")
		}
		out.Write(l.Ref)
		out.WriteByte('\n')
	}
	return out.String()
}

// What a relative string is relative to depends on the place of the script, and so does what is found.
func TestThePlaceOfAScriptDecides(t *testing.T) {
	const code = `location.href = "a.html"; go("b.html"); import("./c.js"); "/d/e.html"`
	for place, want := range map[Place]string{
		File:    "import ./c.js\n/d/e.html\n",
		Page:    "import ./c.js\n/d/e.html\na.html\n",
		Handler: "/d/e.html\na.html\nb.html\n",
	} {
		if got := all(&Reader{}, []byte(code), place); got != want {
			t.Errorf("in place %d:\n%swant:\n%s", place, got, want)
		}
	}
}

// Of each shape, a script of 512 KiB takes eight times as long as one of 64 KiB. The test allows 24 times.
func TestHostile_P12_hostileScriptsTakeLinearTime(t *testing.T) {
	for _, shape := range []string{
		"/", "\"/", "'/a", "\"./", "\\", "\"\\/", "\\u002F", "\"\\u002F", "http:/", "\"http:/", "location",
		"location='", "'",
		"import", "from'./a", "from './a' ", "import'./a'", "a, ", "import(", "(", " ", "{", "from", "\\\\/\"",
		"URL('./a',import.meta.url)",
	} {
		for _, lead := range []string{"", "\"", "'/", "import ", "import{", "'./a'"} {
			read := func(size int) func() {
				body := []byte(lead + strings.Repeat(shape, size/len(shape)))
				r := &Reader{}
				return func() {
					r.Begin()
					r.Open(body, Page)
					for _, ok := r.Next(); ok; _, ok = r.Next() {
					}
				}
			}
			if invariants.Race { // the race detector distorts times
				read(16 << 10)()
				continue
			}
			if grows := cputime.Growth(10, 24, read(512<<10), read(64<<10)); grows > 24 {
				t.Errorf("%q after %q: 512 KiB cost %.1f times as much as 64 KiB", shape, lead, grows)
			}
		}
	}
}

// No bytes cause a panic. A link is not longer than the script, has only bytes of a URL, and a Reader that was used
// before finds the same.
func FuzzReader(f *testing.F) {
	for _, s := range []string{
		`"\/a\/b"`, `'https:\/\/a.b\/\u0026`, `"/a\`, "`/x/y`", `:\/`, `"http:/`, `"\u002Fa\x2F`, `"\\\\u002F`,
		`import a from "./b.js"`, `export*from'../c'`, "import(`/d`)", `new URL("./e",import.meta.url)`, `location='f.html'`,
		`top.location.replace("g")`, `frames[0].location="h"`, `location%3D%27i.html%27`,
		`window.open('j','k')`, `'location="l"`,
	} {
		for place := File; place <= Handler; place++ {
			f.Add([]byte(s), byte(place))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, place byte) {
		r, before := &Reader{}, bytes.Clone(b)
		first := all(r, b, Place(place%3))
		for ref := range strings.Lines(first) {
			ref = strings.TrimPrefix(strings.TrimSuffix(ref, "\n"), "import ")
			if len(ref) > len(b) || strings.ContainsFunc(ref, func(c rune) bool { return c > 0x7F || class[c]&isURL == 0 }) {
				t.Fatalf("%q of %q", ref, b)
			}
		}
		if again := all(r, b, Place(place%3)); again != first || !bytes.Equal(before, b) {
			t.Fatalf("%q and %q", first, again)
		}
	})
}

// values returns what XML finds, one in each line.
func values(b string) string {
	var out strings.Builder
	XML([]byte(b), func(value []byte) { out.WriteString(string(value) + "\n") })
	return out.String()
}

// XML that is data names its URLs in attributes and in texts. Namespaces, schemas and bases are names. A page, a
// picture and a style sheet are markup.
func TestXML_hasURLsInAttributesAndTexts(t *testing.T) {
	for body, want := range map[string]string{
		`<opml xmlns:a="http://no/"><outline xmlUrl='http://a/x' text="http"/><b></b></opml>`:     "http://a/x\n",
		`<?xml?><m:kml xml:base="http://no/"><href> a&amp;b.png </href></Link>http://no/</m:kml>`: "a&amp;b.png\n",
		`<p xsi:schemaLocation="http://no/ x"><q>HTTPS://a/1</q><!-- <a href="no"> --></p>`:       "HTTPS://a/1\n",
		`<p><location><![CDATA[HTTPS://a/y]]></location></p>`:                                     "HTTPS://a/y\n",
		`<!DOCTYPE x [<!ENTITY e "http://no/">]><x a = "http://a/1" b c='http://a/2'href=d/e><y z="http://a/3"`: "" +
			"http://a/1\nhttp://a/2\nhttp://a/3\n",
		`<d><dc:id>http://a/x</dc:id><title>http</title><n>text http://no/</n></d>`: "http://a/x\n",
		`<html><a href="http://no/"/></html>`:                                       "", `<svg:svg href="http://no/"/>`: "",
		`<xsl:stylesheet href="http://no/"/>`: "", `<x href="http://no/`: "", "http://no/": "", "": "", "<": "", "<!--": "",
	} {
		if got := values(body); got != want {
			t.Errorf("%s:\n%swant:\n%s", body, got, want)
		}
	}
}

// Of each shape, a document of 512 KiB takes eight times as long as one of 64 KiB. The test allows 24 times.
func TestHostile_P12_hostileXMLTakesLinearTime(t *testing.T) {
	for _, shape := range []string{
		"<", "<!--", "<![CDATA[", "<a ", "<a b=", "<a b='", "<a b='c'", ">", "</", "<?", " ", "<a>http:", "=", "'", "/", ":",
	} {
		for _, lead := range []string{"", "<a ", "<a b='", "<a>"} {
			read := func(size int) func() {
				body := []byte(lead + strings.Repeat(shape, size/len(shape)))
				return func() { XML(body, func([]byte) {}) }
			}
			if invariants.Race { // the race detector distorts times
				read(16 << 10)()
				continue
			}
			if grows := cputime.Growth(10, 24, read(512<<10), read(64<<10)); grows > 24 {
				t.Errorf("%q after %q: 512 KiB cost %.1f times as much as 64 KiB", shape, lead, grows)
			}
		}
	}
}

// No bytes cause a panic, and what is found is part of the document.
func FuzzXML(f *testing.F) {
	f.Add([]byte(`<?xml?><a b="http://c/" href='d'><url>e</url><![CDATA[http://f]]><!-- x --></a>`))
	f.Add([]byte(`<!DOCTYPE a [<!ENTITY b "c">]><a =b c = 'd`))
	f.Fuzz(func(t *testing.T, b []byte) {
		size := 0
		XML(b, func(value []byte) {
			if size += len(value); len(value) == 0 || !bytes.Contains(b, value) {
				t.Fatalf("%q of %q", value, b)
			}
		})
		if size > len(b) {
			t.Fatalf("%d bytes of %d", size, len(b))
		}
	})
}
