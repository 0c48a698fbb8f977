package urlx

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"orbweaver/internal/cputime"
)

// rebuild makes a site key from its parts.
func rebuild(site []byte) string {
	s, port := "http://", 80
	if HTTPS(site) {
		s, port = "https://", 443
	}
	host := string(Host(site))
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if s += host; Port(site) != port {
		s += ":" + strconv.Itoa(Port(site))
	}
	return s
}

// script passes each line of a data file, tab-separated Go strings without quotes, to do.
func script(t *testing.T, name string, do func(fields []string) (got string)) {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	cases := 0
	for n := 1; lines.Scan(); n++ {
		if lines.Text() == "" || lines.Text()[0] == '#' {
			continue
		}
		fields := strings.Split(lines.Text(), "\t")
		for i, f := range fields {
			if fields[i], err = strconv.Unquote(`"` + strings.ReplaceAll(f, `"`, `\"`) + `"`); err != nil {
				t.Fatalf("%s:%d: %v", name, n, err)
			}
		}
		last := len(fields) - 1
		if got := do(fields[:last]); got != fields[last] {
			t.Errorf("%s:%d: %q: got %q, want %q", name, n, fields[:last], got, fields[last])
		}
		cases++
	}
	if cases < 10 {
		t.Errorf("%s: only %d cases", name, cases)
	}
}

func TestResolveByTable(t *testing.T) {
	script(t, "resolve.txt", func(f []string) string {
		got, err := Resolve(nil, []byte(f[0]), []byte(f[1]))
		if err != nil {
			return "! " + Reason(err)
		}
		return string(got)
	})
}

func TestSURTByTable(t *testing.T) {
	script(t, "surt.txt", func(f []string) string { return string(SURT(nil, []byte(f[0]))) })
}

func TestSplitHostPort(t *testing.T) {
	for _, c := range []struct {
		url, site, path, host string
		port                  int
		https                 bool
	}{
		{"http://a.b/", "http://a.b", "/", "a.b", 80, false},
		{"https://a.b:8080/x?y=/z", "https://a.b:8080", "/x?y=/z", "a.b", 8080, true},
		{"https://[::1]/", "https://[::1]", "/", "::1", 443, true},
		{"http://[::1]:81/", "http://[::1]:81", "/", "::1", 81, false},
		{"http://1.2.3.4:0/", "http://1.2.3.4:0", "/", "1.2.3.4", 0, false},
		{"http://a", "http://a", "", "a", 80, false},
	} {
		site, path := Split([]byte(c.url))
		if string(site) != c.site || string(path) != c.path {
			t.Errorf("%s: split into %q and %q", c.url, site, path)
		}
		for _, of := range []string{c.url, c.site} {
			if h, p, s := Host([]byte(of)), Port([]byte(of)), HTTPS([]byte(of)); string(h) != c.host || p != c.port ||
				s != c.https {
				t.Errorf("%s: host %q port %d https %v", of, h, p, s)
			}
		}
	}
	site, _ := Split([]byte("http://a/b"))
	if grown := append(site, "XX"...); &grown[0] == &site[0] {
		t.Error("appending to a site writes over the path")
	}
}

func TestErrorsAreSentinels(t *testing.T) {
	_, err := Normalize(nil, []byte("mailto:a@b"))
	if wrapped := fmt.Errorf("seed 3: %w", err); !errors.Is(wrapped, ErrScheme) ||
		Reason(wrapped) != string(ErrScheme) {
		t.Errorf("got %v, reason %q", err, Reason(wrapped))
	}
	if Reason(nil) != "" || Reason(os.ErrExist) != os.ErrExist.Error() {
		t.Error("reasons of what is not ours")
	}
}

func TestUN1_ANormalFormIsAFixedPoint(t *testing.T) {
	for _, base := range bases[1:] {
		for _, link := range typicalLinks {
			norm, err := Normalize(nil, []byte(base))
			if err != nil {
				t.Fatal(err)
			}
			url, err := Resolve(nil, norm, []byte(link))
			if err != nil {
				t.Fatalf("%q on %q: %v", link, base, err)
			}
			checkNormal(t, link, url)
		}
	}
}

func TestUN2_ALongURLIsRefusedAndTheLimitItselfIsNot(t *testing.T) {
	url := "http://a/" + strings.Repeat("x", LengthMax-len("http://a/"))
	for raw, want := range map[string]error{
		url: nil, url + "y": ErrTooLong,
		"http://" + strings.Repeat("u", LengthMax) + "@" + url[7:]: nil, // user information does not count
		url + "#" + strings.Repeat("f", 1<<20):                     nil, // nor does a fragment
		"http://a/" + strings.Repeat("../", 3*LengthMax):           ErrTooLong,
		"http://a/" + strings.Repeat("\u00e9", LengthMax/2):        ErrTooLong, // six bytes each
	} {
		got, err := Normalize([]byte("kept"), []byte(raw))
		if err != want || err != nil && string(got) != "kept" {
			t.Errorf("%.30q...(%d): %v, dst %.10q", raw, len(raw), err, got)
		}
	}
}

func TestUN3_HostileInputTakesLinearTime(t *testing.T) {
	base, err := Normalize(nil, []byte("http://a/"+strings.Repeat("/", 8000)))
	if err != nil {
		t.Fatal(err)
	}
	const limit = 1000
	cost := cputime.Cost(3, limit, func() {
		for _, unit := range []string{"../", "/", "%2e%2e/", "@", ":", "[", "\\", "\t", "?", "%", "a.", "\u00e9",
			"xn--", "%2525", "0x"} {
			long := strings.Repeat(unit, rawMax/len(unit))
			for _, ref := range []string{long, "//" + long, "http://h/" + long, "//" + long + "@" + long} {
				for range 3 {
					if got, err := Resolve(nil, base, []byte(ref[:min(len(ref), rawMax)])); err == nil {
						SURT(nil, got)
					}
				}
			}
		}
	}, cputime.Reference)
	// 180 inputs of 64 KiB, 11 MiB. Quadratic work would cost more than 100 million steps.
	if cost > limit {
		t.Errorf("cost %.0f million steps of a hash", cost)
	}
}

func TestFingerprintDependsOnSeedAndURL(t *testing.T) {
	a := Fingerprint(1, []byte("http://a/"))
	if a == Fingerprint(2, []byte("http://a/")) || a == Fingerprint(1, []byte("http://b/")) ||
		a != Fingerprint(1, []byte("http://a/")) {
		t.Error("fingerprints")
	}
	// Fixed values: crawl directories contain them.
	if got := fmt.Sprintf("%016x%016x", a.Hi, a.Lo); got != "c11aed4e7d534762017af221ca81fba8" {
		t.Errorf("fingerprint of http://a/ under seed 1 is %s", got)
	}
}

func TestTheHotPathAllocatesNothing(t *testing.T) {
	base, dst := []byte(benchBase), make([]byte, 0, LengthMax)
	for _, link := range append([]string{"/caf\u00e9?q='1'", "HTTP://User@EXAMPLE.com:80\\x y", "http://127.1/"},
		typicalLinks...) {
		ref := []byte(link)
		if n := testing.AllocsPerRun(100, func() {
			url, err := Resolve(dst, base, ref)
			if err != nil {
				t.Fatal(err)
			}
			_ = Fingerprint(1, url)
			site, _ := Split(url)
			_, _ = Host(site), Port(site)
		}); n != 0 {
			t.Errorf("%q: %v allocations", link, n)
		}
	}
	url := []byte("https://www.example.com/a/B.html?y=2&x=1")
	if n := testing.AllocsPerRun(100, func() { SURT(dst, url) }); n != 0 {
		t.Errorf("SURT: %v allocations", n)
	}
}

// References are relative to the base element, unless it is missing or invalid. The memory is used again.
func TestBase(t *testing.T) {
	page := []byte("http://a.test/b/c")
	var memory []byte
	for _, c := range []struct{ element, want string }{
		{"", "http://a.test/b/c"}, {"/d/", "http://a.test/d/"}, {"http://[", "http://a.test/b/c"}, {"e", "http://a.test/b/e"},
	} {
		base, kept := Base(memory, page, []byte(c.element))
		if string(base) != c.want {
			t.Errorf("%q: %s, want %s", c.element, base, c.want)
		}
		if memory = kept; len(memory) > 0 && &memory[0] == &page[0] {
			t.Fatalf("%q: the memory is the page", c.element)
		}
	}
}
