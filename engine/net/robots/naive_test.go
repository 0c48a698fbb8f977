package robots

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// How naiveTokens spells.
const (
	naiveWildcards = 1 << iota // * and $ are wildcards, as in rules
	naiveRaw                   // non-ASCII bytes stay unescaped
)

// naiveTokens spells a path or pattern as a list of bytes in canonical spelling, with "any" and "end" for wildcards. An
// escape is three bytes, and a wildcard may end within it, as in all implementations.
func naiveTokens(s string, how int) (tokens []string) {
	const same = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~*$"
	wildcards := how&naiveWildcards != 0
	for len(s) > 0 {
		var c byte
		if n, _ := fmt.Sscanf(s[:min(3, len(s))], "%%%02x", &c); n == 1 && len(s) >= 3 && isHex(s[1]) && isHex(s[2]) {
			if strings.IndexByte(same, c) >= 0 {
				tokens = append(tokens, string(rune(c)))
			} else {
				tokens = append(tokens, strings.Split(fmt.Sprintf("%%%02X", c), "")...)
			}
			s = s[3:]
			continue
		}
		c = s[0]
		switch {
		case wildcards && c == '*':
			tokens = append(tokens, "any")
		case how&naiveRaw != 0 && c >= 0x80:
			tokens = append(tokens, fmt.Sprintf("octet %x", c))
		case wildcards && c == '$' && len(s) == 1:
			tokens = append(tokens, "end")
		case strings.IndexByte(same+":/?#[]@!&()+,;=", c) >= 0:
			tokens = append(tokens, string(rune(c)))
		default:
			tokens = append(tokens, strings.Split(fmt.Sprintf("%%%02X", c), "")...)
		}
		s = s[1:]
	}
	return tokens
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }

// naiveMatch tries everything, with a table of the prefixes that match.
func naiveMatch(pattern, path []string) bool {
	reach := make([]bool, len(path)+1)
	reach[0] = true
	for _, p := range pattern {
		next := make([]bool, len(path)+1)
		for i := range reach {
			switch {
			case p == "any":
				next[i] = reach[i] || i > 0 && next[i-1]
			case p == "end":
				next[i] = reach[i] && i == len(path)
			case i > 0 && reach[i-1] && path[i-1] == p:
				next[i] = true
			}
		}
		reach = next
	}
	for _, r := range reach {
		if r {
			return true
		}
	}
	return false
}

// naiveRule is a rule as written.
type naiveRule struct {
	allow bool
	path  string
}

// naiveAllowed checks every rule for every path. A path with non-ASCII bytes must be allowed with and without escapes.
func naiveAllowed(rules []naiveRule, path string) bool {
	allowed := naiveDecide(rules, path, 0)
	if strings.ContainsFunc(path, func(r rune) bool { return r >= 0x80 }) {
		allowed = allowed && naiveDecide(rules, path, naiveRaw)
	}
	return allowed || path == "/robots.txt"
}

func naiveDecide(rules []naiveRule, path string, how int) bool {
	best, allowed := 0, true
	for _, r := range rules {
		if folder, index := strings.CutSuffix(strings.TrimSuffix(r.path, "l"), "/index.htm"); index && r.allow {
			rules = append(rules[:len(rules):len(rules)], naiveRule{true, folder + "/$"})
		}
	}
	for _, r := range rules {
		if r.path == "" || r.path[0] != '/' && r.path[0] != '*' {
			continue
		}
		tokens, spelt := naiveTokens(r.path, naiveWildcards), naiveTokens(path, how)
		if length := len(tokens); naiveMatch(tokens, spelt) && (length > best || length == best && r.allow) {
			best, allowed = length, r.allow
		}
	}
	return allowed
}

func naiveFile(rules []naiveRule) []byte {
	file := "User-agent: *\n"
	for _, r := range rules {
		key := "Disallow"
		if r.allow {
			key = "Allow"
		}
		file += key + ": " + r.path + "\n"
	}
	return []byte(file)
}

func TestRandomRulesAgainstTheNaiveMatcher(t *testing.T) {
	shards := []string{"/", "/", "a", "b", "ab", "*", "*", "$", "%61", "%2F", "%2f", "%2a", "%24", "?", "=", "\u00e9",
		"%C3%A9", "/index.html", "%62", "b", "%", "%4", "'", "%27", "~"}
	r := rand.New(rand.NewPCG(3, 4))
	random := func(n int) string {
		var s strings.Builder
		s.WriteByte('/')
		for range r.IntN(n) {
			s.WriteString(shards[r.IntN(len(shards))])
		}
		return s.String()
	}
	for i := range 4_000 {
		var rules []naiveRule
		n := 1 + r.IntN(6)
		if i%50 == 0 {
			n = 60 // more wildcards than are tried one by one
		}
		for range n {
			rules = append(rules, naiveRule{r.IntN(2) == 0, random(7)[r.IntN(10)/9:]})
		}
		parsed := Parse(naiveFile(rules), "bot")
		for range 5 {
			path := random(9)
			if got, want := parsed.Allowed([]byte(path)), naiveAllowed(rules, path); got != want {
				t.Fatalf("%q under %+v: got %v, want %v", path, rules, got, want)
			}
		}
	}
}

func FuzzMatch(f *testing.F) {
	f.Add("/a*b$", "/*.html", "/axb")
	f.Add("/%61%2f", "*$", "/a%2F")
	f.Add("/**a*", "/a$b", "/a$b?c")
	f.Fuzz(func(t *testing.T, allow, disallow, path string) {
		rules := []naiveRule{{true, allow}, {false, disallow}}
		if strings.ContainsAny(allow+disallow, "#\r\n\x00 \t\v\f") || len(allow)+len(disallow)+len(path) > 1000 {
			t.Skip("not what one line can say")
		}
		if got, want := Parse(naiveFile(rules), "bot").Allowed([]byte(path)), naiveAllowed(rules, path); got != want {
			t.Fatalf("%q under %+v: got %v, want %v", path, rules, got, want)
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfUser-agent: *\r\nDisallow: /a # b\rAllow /x\nCrawl-delay: 1.5s\nSitemap: http://a/\n"))
	f.Add([]byte("U\x00s\x00e\x00r\x00-\x00a\x00g" +
		"\x00e\x00n\x00t\x00:\x00*\x00\n\x00D\x00i\x00s\x00a\x00l\x00l\x00o\x00w\x00:\x00/\x00"))
	f.Fuzz(func(t *testing.T, body []byte) {
		r := Parse(body, "orbweaver")
		checkRoundTrip(t, r)
		r.Explain(body)
		if d, ok := r.CrawlDelay(); d < 0 || !ok && d != 0 {
			t.Fatalf("crawl delay %v, %v", d, ok)
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add(AllowAll().Append(nil))
	f.Add(Parse([]byte("User-agent: *\nallow: /a\nDisallow: /*b$\nCrawl-delay: 3\nSitemap: http://a/\n"), "x").Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Decode(b)
		if err != nil {
			return
		}
		checkRoundTrip(t, r)
		r.Explain(b)
		r.Sitemaps()
		if d, _ := r.CrawlDelay(); d < 0 {
			t.Fatalf("crawl delay %v", d)
		}
	})
}

func checkRoundTrip(t *testing.T, r *Rules) {
	t.Helper()
	again, err := Decode(r.Append(nil))
	if err != nil || !again.Equal(r) || again.Hash() != r.Hash() {
		t.Fatalf("decoding what Append gave: %v", err)
	}
}
