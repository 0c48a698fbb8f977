package urlx

import (
	"strings"
	"testing"
)

func TestHostile_T03_pathsThatRepeatThemselvesAreFound(t *testing.T) {
	for _, c := range []struct {
		url string
		max int // the smallest limit with which Repeats is false
	}{
		{"http://a.test/", 1},
		{"http://a.test/a/b/c/d/e/f/g/h", 1},
		{"http://a.test/a/a/b", 2},
		{"http://a.test/x/a/a/a/b", 3},
		{"http://a.test/a/b/a/b/a/b/a/b/", 4},
		{"http://a.test/a/b/a/b/a/b/a/b/a/b/index.html", 5},
		{"http://a.test/en/a/b/c/a/b/c/a/b/c/x?y", 3},
		{"http://a.test/a/b/c/d/a/b/c/d/a/b/c/d/a/b/c/d/x", 4},
		{"http://a.test/1/2/3/4/5/1/2/3/4/5/1/2/3/4/5/1/2/3/4/5/", 1}, // groups of five are not checked
		{"http://a.test/?q=/a/a/a/a/a/a/a/a", 1},
		{"http://a.test/ab/a/b/ab/a/ba/b/a", 1},
		{"http://a.test//////////", 10},
	} {
		for max := 1; max < 12; max++ {
			if got := Repeats([]byte(c.url), max); got != (max < c.max) {
				t.Errorf("%s, limit %d: %v", c.url, max, got)
			}
		}
		if Repeats([]byte(c.url), 0) {
			t.Errorf("%s: found without a limit", c.url)
		}
	}
}

// Repeats must agree with a slow and simple implementation.
func FuzzRepeats(f *testing.F) {
	f.Add("/a/b/a/b/a/b", 2)
	f.Add("//////", 3)
	f.Add("/a?a/a/a/a/a", 1)
	f.Add(
		"////////////////////0//////0//////////////////0/////////////////////",
		20,
	) // it repeats after the checked part
	f.Fuzz(func(t *testing.T, path string, max int) {
		if len(path) > 200 || max < 1 || max > 20 || !strings.HasPrefix(path, "/") {
			return
		}
		before, _, _ := strings.Cut(path, "?")
		segments := strings.Split(before[1:], "/")
		segments = segments[:min(len(segments), repeatSegments)] // no more are checked
		want := false
		for period := 1; period <= repeatPeriod; period++ {
			for from := range segments {
				n := 1
				for at := from + period; at+period <= len(segments); at += period {
					if strings.Join(segments[at:at+period], "/") != strings.Join(segments[from:from+period], "/") {
						break
					}
					n++
				}
				want = want || n > max
			}
		}
		if got := Repeats([]byte("http://a.test"+path), max); got != want {
			t.Errorf("%q, limit %d: %v", path, max, got)
		}
	})
}

func BenchmarkRepeats(b *testing.B) {
	for _, url := range []string{"https://www.site1.example/archive/2004/section-3/page.html",
		"https://www.site1.example/a/b/c/d/e/f/g/h/i/j/k.html"} {
		b.Run("", func(b *testing.B) {
			b.ReportAllocs()
			u := []byte(url)
			for b.Loop() {
				if Repeats(u, 4) {
					b.Fatal("found")
				}
			}
		})
	}
}
