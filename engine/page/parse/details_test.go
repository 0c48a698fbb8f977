package parse

import (
	"fmt"
	"strings"
	"testing"
)

// showElements lists elements: name, attributes, links of a style sheet, and text.
func showElements(r *Result) string {
	var all []string
	for i := range r.Elements {
		e := &r.Elements[i]
		one := string(e.Name)
		e.EachAttribute(func(name, raw []byte) { one += fmt.Sprintf(" %s=%s", name, r.Value(raw)) })
		for _, l := range r.Links[e.SheetFrom:e.SheetTo] {
			one += " url " + string(l.Ref)
		}
		if len(e.Text) > 0 {
			one += ": " + string(e.Text)
		}
		all = append(all, one)
	}
	return strings.Join(all, "; ")
}

// Elements that descriptions name, case by case.
func TestScan_details(t *testing.T) {
	long := strings.Repeat("\u00e9", LinkTextMax)
	for _, c := range []struct{ what, page, want string }{
		{"texts", "<a href=x>a <b>b</b></a> c <A HREF=y> d\ne</A>f", "a href=x: a b; A HREF=y: d e"},
		{"blocks within", "<p>z <a href=x><div>a</div><p>b</a>c", "a href=x: a\nb"},
		{"an image, and nothing", "<a href=x><img src=i alt></a><a href=z> </a>", "a href=x; img src=i; a href=z"},
		{
			"no end, and an end too many", "<a href=x>a<a href=y>b</a>c</a>d<a href=z>e",
			"a href=x: a; a href=y: b; a href=z: e",
		},
		{
			"spaces that the end of a line removes", "<pre>z     <a href=x>ab</a>     <p>c <a href=y><p>cd    </a><p>ef",
			"a href=x: ab; a href=y: cd",
		},
		{"no link", "<a name=n>a</a><a href=mailto:x>b</a>", "a name=n; a href=mailto:x: b"},
		{"a long text", "<a href=x>" + long + "</a>", "a href=x: " + long[:LinkTextMax]},
		{"templates", "<template><a href=x>a</a></template><a href=y>b</a>", "a href=y: b"},
		{
			"spellings of values", "<a href = 'x&amp;y' title=\"a>b\" alt=\"\" rel=c/ / x>d</a>",
			"a href=x&y title=a>b alt= rel=c/: d",
		},
		{"attributes of any element", "<div class=c data-href=x><p data-uri=y><td background=z><p class=d>",
			"div class=c data-href=x; p data-uri=y; td background=z"},
		{
			"style sheets", "<style type=t>a{b:url(x)} @import 'y';</style><p style='b:url(z)'><style>",
			"style type=t url x url y; style",
		},
		{"a document in a frame", "<iframe src=s srcdoc='<a href=x>a</a>'></iframe>", "iframe src=s srcdoc=<a href=x>a</a>"},
		{"what old browsers show", "<noframes><a href=x>a</a></noframes><!--[if IE]><a href=y>b</a><![endif]-->", ""},
		{"a tag without an end", "<a href=x", ""},
	} {
		for _, o := range []Options{{Text: true, Details: true}, {Details: true}} {
			r, err := NewScanner(o).Scan([]byte(c.page), []byte("text/html; charset=utf-8"))
			if err != nil || !o.Text && len(r.Text) > 0 {
				t.Fatal(err, string(r.Text))
			}
			if got := showElements(r); got != c.want {
				t.Errorf("%s: %q, want %q", c.what, got, c.want)
			}
		}
	}
	r, _ := NewScanner(Options{Text: true}).Scan([]byte("<meta name=n content=c><a href=x>a</a>"), nil)
	if len(r.Elements) > 0 {
		t.Error("details without being asked")
	}
	s := NewScanner(Options{Details: true})
	r, _ = s.Scan([]byte("<html xmlns='http://www.w3.org/1999/xhtml' xmlns:h='x'><h:a href='\xe9'>\xe9</h:a></html>"),
		[]byte("application/xhtml+xml; charset=iso-8859-1"))
	const want = "html xmlns=http://www.w3.org/1999/xhtml xmlns:h=x; h:a href=\u00e9: \u00e9"
	if got := showElements(r); got != want {
		t.Errorf("XHTML: %q, want %q", got, want)
	}
}
