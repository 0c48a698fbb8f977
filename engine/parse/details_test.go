package parse

import (
	"fmt"
	"strings"
	"testing"
)

// Texts of links, and meta elements, case by case.
func TestScan_details(t *testing.T) {
	long := strings.Repeat("\u00e9", LinkTextMax)
	for _, c := range []struct{ what, page, texts, metas string }{
		{"texts", "<a href=x>a <b>b</b></a> c <A HREF=y> d\ne</A>f", "0 a b;1 d e", ""},
		{"blocks within", "<p>z <a href=x><div>a</div><p>b</a>c", "0 a\nb", ""},
		{"an image, and nothing", "<a href=x><img src=i></a><a href=y></a><a href=z> </a>", "", ""},
		{"no end, and an end too many", "<a href=x>a<a href=y>b</a>c</a>d<a href=z>e", "0 a;1 b;2 e", ""},
		{
			"spaces that the end of a line removes", "<pre>z     <a href=x>ab</a>     <p>c <a href=y><p>cd    </a><p>ef",
			"0 ab;1 cd", "",
		},
		{"no link", "<a name=n>a</a><a href=mailto:x>b</a><a href=x>c</a>", "0 c", ""},
		{"a long text", "<a href=x>" + long + "</a>", "0 " + long[:LinkTextMax], ""},
		{"a style is no link", "<a style='background:url(i)'>a</a>", "", ""},
		{"templates", "<template><a href=x>a</a></template><a href=y>b</a>", "0 b", ""},
		{
			"meta elements", "<meta charset=utf-8><meta name=' Author ' content='A &amp; B'><meta property=og:title content=T>" +
				"<meta http-equiv=refresh content='0;url=/x'><meta content=c><meta name=n>",
			"", "Author,,,A & B;,og:title,,T;,,refresh,0;url=/x;,,,c",
		},
		{"a document in a frame", "<iframe srcdoc='<meta name=n content=c><a href=x>a</a>'></iframe>", "0 a", ""},
	} {
		var texts, metas []string
		for _, o := range []Options{{Text: true, Details: true}, {Details: true}} {
			r, err := NewScanner(o).Scan([]byte(c.page), []byte("text/html; charset=utf-8"))
			if err != nil || !o.Text && len(r.Text) > 0 {
				t.Fatal(err, string(r.Text))
			}
			texts, metas = nil, nil
			for _, one := range r.LinkTexts {
				texts = append(texts, fmt.Sprintf("%d %s", one.Link, one.Text))
			}
			for _, m := range r.Metas {
				metas = append(metas, fmt.Sprintf("%s,%s,%s,%s", m.Name, m.Property, m.HTTPEquiv, m.Content))
			}
			if strings.Join(texts, ";") != c.texts || strings.Join(metas, ";") != c.metas {
				t.Errorf("%s: %q %q", c.what, texts, metas)
			}
		}
	}
	page := []byte("<meta name=n content=c><a href=x>a</a>")
	if r, _ := NewScanner(Options{Text: true}).Scan(page, nil); len(r.Metas)+len(r.LinkTexts) > 0 {
		t.Error("details without being asked")
	}
}
