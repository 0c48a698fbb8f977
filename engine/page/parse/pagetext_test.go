package parse

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// The text of pages, case by case.
func TestScan_text(t *testing.T) {
	for _, c := range []struct{ what, media, page, want string }{
		{"the title is the first line", "", "<html><head><title> A &amp; B\n</title></head><body>c</body>", "A & B\nc\n"},
		{"blocks and words", "", "<p>one <b>tw</b>o</p><div><div>three</div></div>", "one two\nthree\n"},
		{"cells and images have spaces", "", "<table><tr><td>a<td>b</table>x<img src=i>y", "a b\nx y\n"},
		{"white space", "", "a \n\t b&nbsp;\u00a0 c\x01d<br>\n <br>e", "a b c d\ne\n"},
		{"pre", "", "<pre>a\n  b</pre>c  d", "a\n  b\nc d\n"},
		{"scripts, styles, comments, templates", "",
			"a<script>if (1 < 2) x('<b>')</script><style>p{}</style><!-- c --><template>t</template>b", "ab\n"},
		{"noscript is shown, iframe's fallback is not", "", "<noscript>n</noscript><iframe>f</iframe>z", "n\nz\n"},
		{"a sign that is no tag", "", "1 < 2 <3 &lt;b>", "1 < 2 <3 <b>\n"},
		{"an end that is missing", "", "<p>a<p>b", "a\nb\n"},
		{"textarea", "", "<textarea><b>x</textarea>y", "<b>x\ny\n"},
		{"style in SVG", "", "<svg><style>p{}</style><text>s</text></svg>", "s\n"},
		{"another character set", "text/html; charset=iso-8859-1", "caf\xe9", "caf\u00e9\n"},
		{"XHTML", "application/xhtml+xml", "<html xmlns='http://www.w3.org/1999/xhtml'><P>a</P>b</html>", "a\nb\n"},
		{"nothing", "", "<html></html>", ""},
		{"a style sheet", "text/css", "p { }", ""},
	} {
		media := c.media
		if media == "" {
			media = "text/html; charset=utf-8"
		}
		r, err := NewScanner(Options{Text: true}).Scan([]byte(c.page), []byte(media))
		if err != nil || string(r.Text) != c.want {
			t.Errorf("%s: %q (%v), want %q", c.what, r.Text, err, c.want)
		}
		if r, _ = NewScanner(Options{}).Scan([]byte(c.page), []byte(media)); r.Text != nil {
			t.Errorf("%s: text without being asked", c.what)
		}
	}
}

// Text changes nothing of the links, and a scanner that was used before allocates nothing for it.
func TestScan_textAndLinks(t *testing.T) {
	page, media := typicalPage(), []byte("text/html")
	with, without := NewScanner(Options{Text: true}), NewScanner(Options{})
	a, _ := with.Scan(page, media)
	b, _ := without.Scan(page, media)
	if len(a.Links) != len(b.Links) || strings.Count(string(a.Text), "\n") < 20 {
		t.Errorf("%d links with text, %d without; %d bytes of text", len(a.Links), len(b.Links), len(a.Text))
	}
	if n := testing.AllocsPerRun(20, func() { _, _ = with.Scan(page, media) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// White space of any shape, at any place among eight bytes, is one space between words.
func TestPageText_whiteSpace(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pieces := []string{
		"a", "bc", "def", "12345678", " ", "  ", "\n", "\t \x01", "\x7f", "\u00a0", "\u00a1", "\u00e9", "\xc2", "\xc2 ",
	}
	for range 20_000 {
		var text pageText
		var given []string
		want := ""
		for range r.IntN(4) {
			piece := ""
			for range r.IntN(12) {
				piece += pieces[r.IntN(len(pieces))]
			}
			given = append(given, piece)
			text.add([]byte(piece))
			for _, c := range []byte(strings.ReplaceAll(piece, "\u00a0", " ")) {
				if c <= ' ' || c == 0x7f {
					if want != "" && !strings.HasSuffix(want, " ") {
						want += " "
					}
				} else {
					want += string([]byte{c})
				}
			}
		}
		if string(text.text) != want {
			t.Fatalf("%q gives %q, want %q", given, text.text, want)
		}
	}
}

func BenchmarkScanText(b *testing.B) {
	page, media := typicalPage(), []byte("text/html; charset=utf-8")
	s := NewScanner(Options{Text: true})
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = s.Scan(page, media)
	}
}

// Text that is added before it is decoded ends at the first byte that must be, wherever that is among eight bytes.
func TestPageText_undecoded(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", "bc", "12345678", " ", "  ", "\n", "\x7f", "&", "\x00", "\u00e9", "\xa0"}
	for range 20_000 {
		piece := ""
		for range r.IntN(20) {
			piece += pieces[min(r.IntN(40), r.IntN(len(pieces)))%len(pieces)]
		}
		var text, want pageText
		used := text.addWords([]byte(piece), false)
		from := strings.IndexFunc(piece, func(c rune) bool { return c == '&' || c == 0 || c >= 0x80 })
		if from < 0 {
			from = len(piece)
		}
		want.add([]byte(piece[:from]))
		if used != from || string(text.text) != string(want.text) {
			t.Fatalf("%q: %d bytes give %q, want %d, %q", piece, used, text.text, from, want.text)
		}
	}
}
