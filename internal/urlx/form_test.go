package urlx

import (
	"bytes"
	"testing"
)

// Each form of a link is a normal form that it keeps, and the next form makes at least the same URLs equal.
func TestForm_ofLinks(t *testing.T) {
	for _, c := range [][4]string{
		{"/p?b=2&a=1", "/p?b=2&a=1", "/p?a=1&b=2", "/p?a=1&b=2"},
		{"/p?a=2&a=10&a=1", "/p?a=2&a=10&a=1", "/p?a=1&a=10&a=2", "/p?a=1&a=10&a=2"},
		{"/p?&b&&a&", "/p?&b&&a&", "/p?a&b", "/p?a&b"},
		{"/p?", "/p?", "/p", "/p"},
		{"/?&", "/?&", "/", "/"},
		{"/a/Index.HTML", "/a/Index.HTML", "/a/Index.HTML", "/a/"},
		{"/index.php?x=1&PHPSESSID=7", "/index.php?x=1&PHPSESSID=7", "/index.php?PHPSESSID=7&x=1", "/?x=1"},
		{"/a;jsessionid=3?q", "/a;jsessionid=3?q", "/a;jsessionid=3?q", "/a?q"},
		{"/index.html/b", "/index.html/b", "/index.html/b", "/index.html/b"},
		{"/a/index.html;v=1", "/a/index.html;v=1", "/a/index.html;v=1", "/a/index.html;v=1"},
		{"/p?u=/index.html", "/p?u=/index.html", "/p?u=/index.html", "/p?u=/index.html"},
	} {
		for form := WHATWG; form <= Archive; form++ {
			const site = "http://index.html"
			p := new(Params).As(form)
			got := p.Strip([]byte(site + c[0]))
			if string(got) != site+c[form+1] {
				t.Errorf("%v: %s becomes %s, want %s", form, c[0], got, c[form+1])
			}
			checkForm(t, p, got)
		}
	}
}

func checkForm(t *testing.T, p *Params, url []byte) {
	t.Helper()
	normal, err := Normalize(nil, url)
	if err != nil || !bytes.Equal(normal, url) {
		t.Errorf("%s is no normal form: %s, %v", url, normal, err)
	}
	if again := p.Strip(bytes.Clone(url)); !bytes.Equal(again, url) {
		t.Errorf("%s becomes %s", url, again)
	}
}

func FuzzForm(f *testing.F) {
	for _, text := range []string{"http://a.test/p?b=2&a=1&&", "http://a.test/%2e;sid=1/index.html?"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		url, err := Normalize(nil, []byte(text))
		if err != nil {
			return
		}
		for form := WHATWG; form <= Archive; form++ {
			p := new(Params).As(form)
			checkForm(t, p, p.Strip(bytes.Clone(url)))
		}
	})
}
