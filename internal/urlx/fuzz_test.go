package urlx

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// shards are the parts of random URLs: everything that a state of the parser reacts to.
var shards = []string{
	"http:",
	"https:",
	"HTTP:",
	"hTtps:",
	"//",
	"/",
	"\\",
	"a",
	"b.c",
	"Example.COM",
	"x_y.",
	"..",
	".",
	"%2e",
	"%2E",
	"?",
	"&",
	"=",
	"#",
	"@",
	":",
	"80",
	"443",
	"65535",
	"65536",
	"0",
	"1.2.3.4",
	"0x7f",
	"127",
	"[::1]",
	"[1:2::]",
	"[::ffff:1.2.3.4]",
	"\u00e9",
	"\u4f8b\u3048",
	"\u00df",
	"%C3%A9",
	"%41",
	"%",
	"%zz",
	" ",
	"\t",
	"\n",
	"\r",
	"\x00",
	"'",
	"\"",
	"<",
	">",
	"`",
	"{",
	"}",
	"|",
	"^",
	"[",
	"]",
	"~",
	"!",
	"$",
	"xn--",
	"-",
	"_",
	"ftp:",
	"mailto:",
	"\u00ad",
	"\u3002",
	"\u200d",
	"0300",
	"256",
	";",
	",",
	"+",
	"*",
	"(",
	")",
	"\x7f",
	"\U0001f600",
}

var bases = []string{
	"",
	"http://example.com/",
	"https://example.com/a/b/c?q",
	"http://h:8080/x//y/../z",
	"https://[::1]/p?",
}

// check compares one reference with the standard's state machine, and checks the package's promises for the result.
func check(t *testing.T, baseURL, ref string) {
	var base []byte
	var oracleBase *oracle
	if baseURL != "" {
		var err error
		if base, err = Normalize(nil, []byte(baseURL)); err != nil {
			return
		}
		oracleBase, _ = oracleResolve(nil, string(base))
	}
	got, err := Resolve([]byte("prefix "), base, []byte(ref))
	if err != nil {
		if string(got) != "prefix " {
			t.Fatalf("%q on %q: an error, and yet dst is %q", ref, base, got)
		}
		if r := Reason(err); r == "" || strings.HasPrefix(r, "urlx") {
			t.Fatalf("%q: reason %q", ref, r)
		}
	} else {
		got = got[len("prefix "):]
		checkNormal(t, ref, got)
	}
	if !utf8.ValidString(ref) || err == ErrTooLong {
		return
	}
	want, ok := oracleResolve(oracleBase, ref)
	if ok != (err == nil) || ok && want.String() != string(got) {
		t.Fatalf("%q on %q: got %q, %v; the oracle says %v, %v", ref, base, got, err, want, ok)
	}
}

// checkNormal checks the promises UN1 to UN3 for a normal form.
func checkNormal(t *testing.T, ref string, url []byte) {
	t.Helper()
	again, err := Normalize(nil, url)
	if err != nil || !bytes.Equal(again, url) {
		t.Fatalf("%q: %q becomes %q, %v", ref, url, again, err)
	}
	for i, c := range url {
		quote := c == '"' && i > len(url)-len(pathOf(url)) // the standard allows quotation marks in a host
		if c <= ' ' || c >= 0x7f || c == '#' || c == '<' || c == '>' || quote {
			t.Fatalf("%q: %q holds octet %#x", ref, url, c)
		}
	}
	site, path := Split(url)
	if len(path) == 0 || path[0] != '/' || string(site)+string(path) != string(url) || len(url) > LengthMax {
		t.Fatalf("%q: %q splits into %q and %q", ref, url, site, path)
	}
	rebuilt := rebuild(site)
	if rebuilt != string(site) {
		t.Fatalf("%q: site %q rebuilt as %q", ref, site, rebuilt)
	}
	SURT(nil, url)
}

func pathOf(url []byte) []byte {
	_, path := Split(url)
	return path
}

func TestRandomReferencesAgainstTheOracle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 40_000 {
		var ref strings.Builder
		if r.IntN(3) == 0 {
			ref.WriteString("http://")
		}
		for range r.IntN(9) {
			ref.WriteString(shards[r.IntN(len(shards))])
		}
		check(t, bases[r.IntN(len(bases))], ref.String())
	}
}

func FuzzResolve(f *testing.F) {
	for i, s := range shards {
		f.Add(bases[i%len(bases)], s)
		f.Add(bases[(i+1)%len(bases)], "//h"+s+shards[(i*7)%len(shards)])
	}
	f.Fuzz(func(t *testing.T, base, ref string) {
		check(t, base, ref)
		// These take normal forms, but a peer agent or a file may contain anything.
		Split([]byte(ref))
		Host([]byte(ref))
		Port([]byte(ref))
		SURT(nil, []byte(ref))
	})
}
