package urlx

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestHostile_T02_namedParametersAreTakenOutOfURLs(t *testing.T) {
	p, err := NewParams([]string{"session", "tracking", "Ref", "from_*"})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"http://a.test":                                        "http://a.test",
		"http://a.test/":                                       "http://a.test/",
		"http://a.test/?PHPSESSID=1":                           "http://a.test/",
		"http://a.test/?a=1&PHPSESSID=1":                       "http://a.test/?a=1",
		"http://a.test/?phpsessid=1&a=1&ref=x&b":               "http://a.test/?a=1&b",
		"http://a.test/?a=1&&b=2":                              "http://a.test/?a=1&&b=2",
		"http://a.test/?a=1&&b=2&sessionid":                    "http://a.test/?a=1&&b=2",
		"http://a.test/x;jsessionid=AB12?q=1":                  "http://a.test/x?q=1",
		"http://a.test/x;jsessionid=AB12/y;v=1;JSESSIONID=2/z": "http://a.test/x/y;v=1/z",
		"http://a.test/x;v=1?utm_source=n&utm_campaign=m":      "http://a.test/x;v=1",
		"http://a.test/x?utm_=1&utm_x=2&from_=1&from_here=2":   "http://a.test/x?utm_=1&from_=1",
		"http://a.test/x?sid=12&session=3":                     "http://a.test/x?sid=12&session=3",
		"http://a.test/x?a=PHPSESSID=2;jsessionid=3":           "http://a.test/x?a=PHPSESSID=2;jsessionid=3",
		"http://a.test/x?ASPSESSIONIDABCD=QQ&a=1":              "http://a.test/x?a=1",
		"http://[::1]:8080/;jsessionid=1?gclid=2":              "http://[::1]:8080/",
		"http://a.test/x/?" + string(bytes.Repeat([]byte("a"), 99)): "http://a.test/x/?" +
			string(bytes.Repeat([]byte("a"), 99)),
	} {
		if got := string(p.Strip([]byte(in))); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if _, err := NewParams([]string{"a", "", "*", "a*b", "x=y"}); !errors.Is(err, ErrParam) {
		t.Errorf("names that are none: %v", err)
	}
	none := new(Params)
	if got := none.Strip([]byte("http://a.test/?sid=1")); string(got) != "http://a.test/?sid=1" {
		t.Errorf("the empty set: %s", got)
	}
}

// The result of Strip is a normal form, and a second Strip does not change it.
func FuzzStrip(f *testing.F) {
	f.Add("http://a.test/x;jsessionid=1?utm_a=1&b")
	f.Add("http://a.test/x/..;a=1/y/%2E;b2=3;a/z")
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := NewParams([]string{"session", "tracking", "a", "b*"})
		if err != nil {
			t.Fatal(err)
		}
		url, err := Normalize(nil, []byte(raw))
		if err != nil {
			return
		}
		whole := string(url)
		got := p.Strip(url)
		if again, err := Normalize(nil, got); err != nil || !bytes.Equal(again, got) {
			t.Errorf("%q: %q is no normal form: %q, %v", whole, got, again, err)
		}
		if twice := p.Strip(bytes.Clone(got)); !bytes.Equal(twice, got) {
			t.Errorf("%q: %q loses more: %q", whole, got, twice)
		}
	})
}

// Stripping must take linear time: 8 KB of path parameters once caused 8 MB of copies.
func TestStripTakesLinearTime(t *testing.T) {
	session, err := NewParams([]string{"tracking"})
	if err != nil {
		t.Fatal(err)
	}
	long := "http://h/" + strings.Repeat("a", 4000)
	url := []byte(long + strings.Repeat(";_ga", 1000))
	buf := make([]byte, len(url))
	allocs := testing.AllocsPerRun(5, func() {
		if got := session.Strip(append(buf[:0], url...)); string(got) != long {
			t.Fatalf("%d octets are left, want %d", len(got), len(long))
		}
	})
	if allocs > 0 {
		t.Errorf("%v allocations for %d octets, want none", allocs, len(url))
	}
}
