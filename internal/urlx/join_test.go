package urlx

import "testing"

// A reference below a relative base leads to where it would lead if the base had been resolved first.
func TestAppendJoined(t *testing.T) {
	for _, c := range []struct{ base, ref, want string }{
		{"http://a/b/c", "d", "http://a/b/d"}, {"http://a/b/", "d", "http://a/b/d"}, {"http://a", "d", "http://a/d"},
		{"http://a/b?c=/d#/e", "f", "http://a/f"}, {"http://a/b?c", "?d", "http://a/b?d"},
		{"http://a/b#c", "#d", "http://a/b#d"}, {"http://a/b?c#d", "", "http://a/b?c"}, {"http://a/b/c", "/d", "http://a/d"},
		{"http://a/b", "//c/d", "http://c/d"}, {"http://a/b", "https://c/", "https://c/"}, {"b/c", "d", "b/d"},
		{"b", "d", "d"}, {"/b/", "d", "/b/d"}, {"/b/", "/d", "/d"}, {"//a/b/c", "d", "//a/b/d"}, {"//a", "/d", "//a/d"},
		{"b/", "../d", "b/../d"}, {"../b/", "d", "../b/d"}, {"urn:x", "d", "d"}, {"", "d", "d"}, {"?x", "d", "d"},
		{"http://a/b/", "mailto:c", "mailto:c"}, {`http://a\b\c`, `d`, `http://a\b\d`},
	} {
		got := string(AppendJoined(nil, []byte(c.base), []byte(c.ref)))
		if got != c.want {
			t.Errorf("%q below %q is %q, want %q", c.ref, c.base, got, c.want)
		}
		document := []byte("http://h.test/x/y/z?q")
		base, err := Resolve(nil, document, []byte(c.base))
		if err != nil {
			continue
		}
		want, err := Resolve(nil, base, []byte(c.ref))
		joined, err2 := Resolve(nil, document, []byte(got))
		if (err == nil) != (err2 == nil) || string(joined) != string(want) {
			t.Errorf("%q below %q leads to %s, want %s (%v, %v)", c.ref, c.base, joined, want, err, err2)
		}
	}
}

// FuzzAppendJoined: no bytes cause a panic, and the result is no longer than both and a slash.
func FuzzAppendJoined(f *testing.F) {
	f.Add([]byte("http://a/b?c#d"), []byte("../e"))
	f.Add([]byte("//a"), []byte("?"))
	f.Fuzz(func(t *testing.T, base, ref []byte) {
		if got := AppendJoined(nil, base, ref); len(got) > len(base)+len(ref)+1 {
			t.Fatalf("%q below %q is %q", ref, base, got)
		}
	})
}
