package cookie

import (
	"io"
	"strings"
	"testing"
	"time"
)

func readPresets(r io.Reader) (*Presets, error) {
	p := new(Presets)
	return p, p.Add(r)
}

// Each site begins with the cookies that are for it: of its host or a parent domain, its scheme, and not expired.
func TestPresets_areForTheirSites(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	presets, err := readPresets(strings.NewReader(`# Netscape HTTP Cookie File

.example.org	TRUE	/	FALSE	0	a	1
example.org	FALSE	/	FALSE	0	b	2
example.org	TRUE	/	TRUE	1900000000.5	c	3
example.org	TRUE	/	FALSE	1700000000	old	x
#HttpOnly_www.example.org	FALSE	/deep/	FALSE	0	d	4
192.0.2.1	TRUE	/	FALSE	0	e	5
.a.test	TRUE	/	FALSE	0	__Host-g	7
.a.test	TRUE	/	FALSE	0	__Secure-h	8
`))
	if err != nil || presets.Count() != 8 {
		t.Fatal(presets, err)
	}
	j := NewJars(1<<20, presets)
	for _, c := range []struct{ url, want string }{
		{"http://example.org/", "a=1; b=2"}, {"https://example.org/", "a=1; b=2; c=3"},
		{"http://www.example.org/", "a=1"}, {"http://www.example.org/deep/x", "d=4; a=1"},
		{"http://example.org:8080/", "a=1; b=2"}, {"http://notexample.org/", ""}, {"http://192.0.2.1/", "e=5"},
		{"http://2.1/", ""}, {"http://a.test/", ""},
		{"https://a.test/", "__Host-g=7; __Secure-h=8"}, {"https://b.a.test/", "__Secure-h=8"},
	} {
		if got := string(j.Append(nil, []byte(c.url), now)); got != c.want {
			t.Errorf("%s: %q, want %q", c.url, got, c.want)
		}
	}
}

// A cookie that the server removes or replaces does not come back.
func TestPresets_comeOnce(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	presets, err := readPresets(strings.NewReader("a.test\tTRUE\t/\tFALSE\t0\ts\told\n"))
	if err != nil {
		t.Fatal(err)
	}
	j, url := NewJars(1<<20, presets), []byte("http://a.test/")
	for _, c := range []struct{ set, want string }{
		{"", "s=old"}, {"s=new; Path=/", "s=new"}, {"s=x; Path=/; Max-Age=0", ""},
	} {
		if c.set != "" {
			j.Take(url, func(yield func([]byte) bool) { yield([]byte(c.set)) }, now)
		}
		if got := string(j.Append(nil, url, now)); got != c.want {
			t.Errorf("after %q: %q, want %q", c.set, got, c.want)
		}
	}
}

// A file that is not one of cookies is refused, with its line.
// A file that an editor has saved in another form has the same cookies.
func TestReadPresets_ofAllEditors(t *testing.T) {
	const text = "# Netscape HTTP Cookie File\na.test\tFALSE\t/\tFALSE\t0\tname\tvalue \n"
	var wide []byte
	for _, c := range text {
		wide = append(wide, byte(c), 0)
	}
	for what, in := range map[string]string{
		"BOM": "\ufeff" + text, "CR": strings.ReplaceAll(text, "\n", "\r"), "UTF-16": "\xff\xfe" + string(wide),
		"CR LF": strings.ReplaceAll(text, "\n", "\r\n"),
	} {
		p, err := readPresets(strings.NewReader(in))
		if err != nil || p.Count() != 1 {
			t.Errorf("%s: %v", what, err)
			continue
		}
		p.each([]byte("http://a.test"), func(c *cookie) {
			if c.name != "name" || c.value != "value " {
				t.Errorf("%s: %q=%q", what, c.name, c.value)
			}
		})
	}
}

func TestReadPresets_refusesOtherFiles(t *testing.T) {
	for _, text := range []string{
		"a.test\tTRUE\t/\tFALSE\t0\tname", "a b\tTRUE\t/\tFALSE\t0\tn\tv", "a.test\tTRUE\tx\tFALSE\t0\tn\tv",
		"a.test\tTRUE\t/\tFALSE\tsoon\tn\tv", "a.test\tTRUE\t/\tFALSE\t0\tn\tv;x", "a.test\tTRUE\t/\tFALSE\t0\tn=m\tv",
		"a.test\tTRUE\t/\tFALSE\t0\tn\t" + strings.Repeat("x", siteBytes), "{}",
	} {
		if _, err := readPresets(strings.NewReader("# head\n" + text + "\n")); err == nil ||
			!strings.Contains(err.Error(), "line 2: ") {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}

// FuzzReadPresets: no file panics the reader, and no cookie of it is two fields of a request.
func FuzzReadPresets(f *testing.F) {
	f.Add("a.test\tTRUE\t/\tFALSE\t0\tn\tv")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := readPresets(strings.NewReader(text))
		if err != nil {
			return
		}
		got := NewJars(1<<20, p).Append(nil, []byte("http://a.test/"), time.Unix(0, 0))
		if strings.ContainsAny(string(got), "\r\n") {
			t.Errorf("%q", got)
		}
	})
}
