package mediatype

import (
	"bytes"
	"strings"
	"testing"
)

// The last valid type of all lines and of all parts between commas counts. The charset of an earlier one is carried if
// the type is the same.
func TestExtract_theLastValidTypeCounts(t *testing.T) {
	for lines, want := range map[string]string{
		"text/html":                                  "text/html",
		" Text/HTML ; charset=utf-8 ":                "Text/HTML ; charset=utf-8",
		"text/html|image/png":                        "image/png",
		"text/html;charset=utf-8|text/html":          "text/html;charset=utf-8",
		"text/html;charset=utf-8,text/html":          "text/html;charset=utf-8",
		"text/html;charset=utf-8|text/css|text/html": "text/html",
		"text/html;charset=a, text/html;charset=b":   "text/html;charset=b",
		"text/html|":                                 "text/html",
		"|text/html":                                 "text/html",
		"text/html,text/html":                        "text/html",
		"text/html|html":                             "text/html",
		"text/html;a=\"x,y\"":                        "text/html;a=\"x,y\"",
		"*/*|text/css":                               "text/css",
		"text/css|*/*":                               "text/css",
		"*/*":                                        "",
		"*/*;charset=utf-8":                          "",
		"":                                           "",
		"html":                                       "",
		"text/":                                      "",
		"/html":                                      "",
		"text/html charset=utf-8":                    "",
		"text/html:charset=utf-8":                    "",
		"text\\html":                                 "",
		"charset=utf-8":                              "",
		"text/html;charset=utf-8;charset=gbk":        "text/html;charset=utf-8;charset=gbk",
		"image/png,":                                 "image/png",
		"video/mp4;codecs=\"a, b\", text/html;x=\"\\\"": "text/html;x=\"\\\"\"",
	} {
		if got := Extract([]byte(strings.ReplaceAll(lines, "|", ", "))); string(got) != want {
			t.Errorf("%q: %q, want %q", lines, got, want)
		}
	}
}

// A type that says that it is not known is none.
func TestDeclared_unknownTypesAreNone(t *testing.T) {
	for value, want := range map[string]string{
		"unknown/unknown": "", "Application/Unknown;charset=utf-8": "", "text/html": "text/html", "unknown/x": "unknown/x",
		"": "", "text/html, unknown/unknown": "",
	} {
		if got := Declared([]byte(value)); string(got) != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
}

// Split reads what Parse reads, without allocation for the usual values.
func TestSplit_agreesWithParse(t *testing.T) {
	for _, value := range []string{
		"text/html", "text/html;charset=utf-8", "TEXT/html ; CHARSET=\"Utf-8\"", "text/html;charset =utf-8",
		"text/html;charset= utf-8", "text/html;charset='utf-8'", "text/html;x=\";charset=a\";charset=b",
		"text/html;charset=;charset=b", "text/html;charset=\"\\a\\b\"x;charset=c", "text/html;charset",
		"text/html;;;charset=a ",
		"text/html;charset=a;charset=b", "html", "", "text/html;charset=\"", "text/html;x=\"\\\";charset=a\";charset=b",
	} {
		essence, label := Split([]byte(value))
		parsed, ok := Parse(value)
		if lower(string(essence)) != parsed.Essence || string(label) != parsed.Charset() || ok != (essence != nil) {
			t.Errorf("%q: %q and %q; Parse has %q and %q", value, essence, label, parsed.Essence, parsed.Charset())
		}
	}
}

// The usual field costs no memory.
func TestExtract_allocatesNothingForOneValidType(t *testing.T) {
	value := []byte("text/html; charset=UTF-8")
	if n := testing.AllocsPerRun(100, func() { Split(Declared(value)) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("text/html;charset=\"a\\\"b\", text/html")
	f.Fuzz(func(t *testing.T, value string) {
		found := Extract([]byte(value))
		if again := Extract(bytes.Clone(found)); !bytes.Equal(found, again) {
			t.Errorf("%q: %q, and of that %q", value, found, again)
		}
		if essence, _ := Split(found); (essence == nil) != (found == nil) {
			t.Errorf("%q: %q has no type", value, found)
		}
	})
}

func BenchmarkExtract(b *testing.B) {
	value := []byte("text/html; charset=UTF-8")
	for b.Loop() {
		Split(Declared(value))
	}
}
