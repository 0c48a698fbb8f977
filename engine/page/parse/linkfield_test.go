package parse

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"orbweaver/internal/cputime"
	"orbweaver/internal/invariants"
)

// fieldLinks are the links of a field Link as "kind url", with a mark for nofollow.
func fieldLinks(value string) string {
	var b strings.Builder
	EachFieldLink([]byte(value), func(l *Link) {
		fmt.Fprintf(&b, "%s %s", l.Kind, l.Ref)
		if l.NoFollow {
			b.WriteString(" nofollow")
		}
		b.WriteByte('\n')
	})
	return strings.TrimSpace(b.String())
}

// A field Link has the links that link elements with the same relations have (RFC 8288, appendix B).
func TestLinkField_byTable(t *testing.T) {
	for value, want := range map[string]string{
		`</2>; rel="next"`:               "link /2",
		`</2>;rel=next`:                  "link /2",
		`</2> ; rel = "next"`:            "link /2",
		`</2>; REL=NEXT`:                 "link /2",
		`</2>`:                           "link /2",
		`< /2 >; rel=prev`:               "link /2",
		`</a>; rel=next, </b>; rel=prev`: "link /a\nlink /b",
		`</a>,</b>,, ,</c>`:              "link /a\nlink /b\nlink /c",
		`</a,b;c>; rel=next`:             "link /a,b;c",
		`</a>; title="x, </no>; rel=next"; rel=next`:            "link /a",
		`</a>; title="\"x\", </no>"; rel=next, </b>`:            "link /a\nlink /b",
		`</a>; title*=UTF-8''x%2C%20y; rel=alternate`:           "link /a",
		`</a>; rel="n\ofollow"`:                                 "link /a nofollow",
		`</a>; title="no end, </no>`:                            "link /a",
		`</a.css>; rel=preload; as=style`:                       "resource /a.css",
		`</a.css>; rel="alternate stylesheet"`:                  "resource /a.css",
		`</a.ico>; rel="shortcut icon"`:                         "resource /a.ico",
		`</a.js>; rel=modulepreload; nopush`:                    "resource /a.js",
		`<//cdn.test>; rel=preconnect`:                          "",
		`<//cdn.test>; rel=dns-prefetch; crossorigin`:           "",
		`</a>; rel=next; rel=stylesheet`:                        "link /a",
		`</a>; rel="canonical"`:                                 "link /a",
		`</a>; rel="next nofollow"`:                             "link /a nofollow",
		`</a>; rel="https://api.w.org/"`:                        "link /a",
		`</a>; rel=next; anchor="/other", </b>; rel=next`:       "link /b",
		`</a>; anchor=""; rel=next`:                             "",
		`<>; rel=preload; as=image; imagesrcset="/b 1x, /c 2x"`: "image /b\nimage /c",
		`/a; rel=next, </b>`:                                    "link /b",
		`"</no>", </b>`:                                         "link /b",
		`</a; rel=next`:                                         "",
		`</a> </no>; rel=next, </b>`:                            "link /a\nlink /b",
		`</a>;;; =; "x"; rel=next`:                              "link /a",
		``:                                                      "", `,`: "", `<`: "", `>`: "", `<>`: "",
	} {
		if got := fieldLinks(value); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", value, got, want)
		}
	}
}

// hostileFields are fields Link that want much time for few bytes: a beginning, and what is repeated.
var hostileFields = map[string][2]string{
	"links": {"", "<a>,"}, "open": {"", "<"}, "closed": {"", ">"}, "commas": {"", ","}, "blanks": {"", " "},
	"names": {"<a>", ";b"}, "values": {"<a>", ";b=c"}, "relations": {"<a>;rel=\"", "next "},
	"same name": {"<a>", ";rel=x"},
	"quotes":    {"<a>", ";b=\""}, "escapes": {"<a>;b=\"", "\\\""}, "candidates": {"<a>;imagesrcset=\"", "b 1x, "},
	"brackets": {"<a>;imagesrcset=\"", "b ("}, "bare quotes": {"", "\""}, "equals": {"<a>", "="},
}

// A field costs a bounded time for each byte, whatever it holds.
func TestLinkField_costsTheSameForEachByte(t *testing.T) {
	if invariants.Race {
		t.Skip("times say nothing")
	}
	for name, parts := range hostileFields {
		read := func(size int) func() {
			value := []byte(parts[0] + strings.Repeat(parts[1], size/len(parts[1])))
			return func() { EachFieldLink(value, func(*Link) {}) }
		}
		large, small := read(1<<18), read(1<<12)
		if grows := cputime.Growth(10, 256, large, small); grows > 256 {
			t.Errorf("%s: %.1f times the cost of a 64th", name, grows)
		}
	}
}

// FuzzLinkField reads any field: links are pieces of it, and all together are not longer.
func FuzzLinkField(f *testing.F) {
	for _, parts := range hostileFields {
		f.Add([]byte(parts[0] + parts[1] + parts[1]))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		before, sum := bytes.Clone(value), 0
		EachFieldLink(value, func(l *Link) {
			if sum += len(l.Ref); len(l.Ref) == 0 {
				t.Errorf("an empty link")
			}
		})
		if sum > len(value) || !bytes.Equal(before, value) {
			t.Errorf("%q: %d bytes of links", value, sum)
		}
	})
}
