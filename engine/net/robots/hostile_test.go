package robots

import (
	"fmt"
	"strings"
	"testing"

	"orbweaver/internal/cputime"
	"orbweaver/internal/invariants"
)

// B05: byte order marks, UTF-16, every kind of line end, NUL bytes, and HTML pages with status 200: valid lines are
// parsed, all others are ignored.
func TestHostile_B05_whateverTheOctetsLinesWithAKnownKeyCount(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /x\n"
	utf16 := func(mark string, high int) string {
		s := mark
		for _, c := range []byte(rules) {
			pair := []byte{0, 0}
			pair[1-high] = c
			s += string(pair)
		}
		return s
	}
	for name, file := range map[string]string{
		"a mark": "\xef\xbb\xbf" + rules, "little end first": utf16("\xff\xfe", 1), "big end first": utf16("\xfe\xff", 0),
		"CRLF": strings.ReplaceAll(rules, "\n", "\r\n"), "CR": strings.ReplaceAll(rules, "\n", "\r"),
		"all of them": "# a\r\n\n\r" + strings.ReplaceAll(rules, "\n", "\n\r\n\r"),
		"NUL":         strings.ReplaceAll(rules, "a", "\x00a\x00"),
		"among HTML":  "<!DOCTYPE html>\n<title>User-agent: none</title>\n" + rules + "</html>",
		"no end":      strings.TrimRight(rules, "\n"), "high octets": "\xff\xfe\xfd: \x80\n" + rules,
		"controls": "\x01\x02\n" + rules + "\x7f",
	} {
		t.Run(name, func(t *testing.T) { verdicts(t, file, "-/x", "+/y") })
	}
	for _, file := range []string{
		"", "<!DOCTYPE html><html><body>User-agent: *<br>Disallow: /<br></body></html>", "\x1f\x8b\x08\x00garbage",
		"User-agent *\x00",
		"{\"User-agent\": \"*\", \"Disallow\": \"/\"}",
	} {
		verdicts(t, file, "+/", "+/x")
	}
}

// B05: parsing a file of the most expensive lines costs sixteen times as much as a sixteenth of it. The test allows 64
// times, since a small file fits into the caches and collects no garbage; quadratic work would cost 256 times as much.
func TestHostile_B05_parsingIsLinear(t *testing.T) {
	for name, unit := range map[string]string{
		"zeroes": "\x00", "returns": "\r", "colons": ":", "blanks": " ", "comments": "#", "marks": "\xef\xbb\xbf",
		"stars":  "Disallow: /*\n",
		"agents": "User-agent: *\n", "groups": "User-agent: orbweaver\nDisallow: /\n", "delays": "Crawl-delay: 1e9\n",
		"maps":     "Sitemap: s\n",
		"one line": "User-agent: * ", "escapes": "Disallow: /%41%5a%\n", "same": "Disallow: /aaaaaaaaaaaaaaaaaaaaaaaa\n",
	} {
		file := func(size int) []byte {
			return []byte("User-agent: orbweaver\n" + strings.Repeat(unit, size/len(unit)))
		}
		small, large := file(bodyMax/16), file(bodyMax-100)
		parse := func(file []byte) func() { return func() { Parse(file, "orbweaver") } }
		if grows := cputime.Growth(10, 64, parse(large), parse(small)); grows > 64 {
			t.Errorf("%s: the file costs %.1f times as much as a sixteenth of it", name, grows)
		}
	}
}

// B06: five thousand rules with many wildcards and with letters that the path repeats; a matcher with backtracking
// would not end. A URL costs at most as much as 1.5 million steps of a hash; the worst one needs a third of them.
func TestHostile_B06_rulesOfManyStarsAreMatchedInLinearTime(t *testing.T) {
	limit := 1.5
	if invariants.Race {
		limit *= 20
	}
	files := hostile()
	for name, rule := range map[string]string{
		"the catalogue's": "Disallow: /" + strings.Repeat("*a", 40) + "*$\n",
		"with an end":     "Disallow: /" + strings.Repeat("*a", 40) + "*b$\n",
		"stars only":      "Disallow: /" + strings.Repeat("*", 80) + "b\n",
		"pairs":           "Disallow: /" + strings.Repeat("*ab", 30) + "*c$\n",
	} {
		var file strings.Builder
		file.WriteString("User-agent: *\n")
		for i := range 5000 {
			file.WriteString(strings.Replace(rule, "$\n", fmt.Sprintf("%d$\n", i), 1))
		}
		files[name] = [2]string{file.String(), "/" + strings.Repeat("a", 4000) + strings.Repeat("ab", 2000)}
	}
	files["in the wrong order"] = wrongOrder(1999)
	files["as much as is tried"] = wrongOrder(1400)
	for name, f := range files {
		r, path := Parse([]byte(f[0]), "orbweaver"), []byte(f[1])
		cost := cputime.Cost(40, limit, func() { r.Allowed(path) }, cputime.Reference)
		t.Logf("%-16s %8d octets of rules, a path of %d: %.2f million steps", name, r.Size(), len(path), cost)
		if cost > limit {
			t.Errorf("%s: %.2f million steps of a hash for a URL", name, cost)
		}
	}
}

// wrongOrder returns a file and a path with all letters of each rule in another order, so that no shortcut helps.
func wrongOrder(rules int) [2]string {
	var file, path strings.Builder
	file.WriteString("User-agent: *\n")
	path.WriteByte('/')
	for i := range rules {
		fmt.Fprintf(&path, "b%03d", i)
		fmt.Fprintf(&file, "Disallow: /*b%03d*b%03d\n", i+1, i)
	}
	return [2]string{file.String(), path.String()}
}

// B07: from Google's test suite: paths are case-sensitive and agents are not, escapes are compared in one spelling, "$"
// is an end only at the end. The longest matching rule decides, Allow before Disallow. (The program
// conformance runs the whole suite.)
func TestHostile_B07_casesOfGooglesSuite(t *testing.T) {
	const agent = "user-agent: ORBWEAVER\n"
	// ID_PathValueCaseSensitivity
	verdicts(t, agent+"disallow: /x/\n", "-/x/y", "+/X/y", "+/x")
	verdicts(t, "user-agent: FooBot\ndisallow: /\nUser-Agent: orbweaver/2.1\nallow: /\n", "+/x") // ID_UserAgentValueCase
	verdicts(t, "User-agent: *\nDisallow: /\nUser-agent: orbweaver bot\nAllow: /x/\nDisallow: /\n", "+/x/y", "-/y")
	// ID_LongestMatch
	verdicts(t, agent+"disallow: /x/page.html\nallow: /x/\n", "-/x/page.html", "+/x/")
	// ID_LongestMatch
	verdicts(t, agent+"allow: /x/page.html\ndisallow: /x/\n", "+/x/page.html", "-/x/", "+/x")
	// ID_LongestMatch
	verdicts(t, agent+"disallow: \nallow: \n", "+/x/page.html")
	// ID_LongestMatch
	verdicts(t, agent+"disallow: /x/page.html\nallow: /x/page.html\n", "+/x/page.html")
	// ID_LongestMatch
	verdicts(t, agent+"disallow: /x/page.html\nallow: /x/page\n", "-/x/page.html", "+/x/page")
	// ID_LongestMatch
	verdicts(t, agent+"disallow: /x/page\nallow: /*.html\n", "+/x/page.html", "-/x/page")
	// ID_Encoding
	verdicts(t, agent+"Disallow: /\nAllow: /foo/bar?qux=taz&baz=http://foo.bar?tar&par\n",
		"+/foo/bar?qux=taz&baz=http://foo.bar?tar&par")
	verdicts(t, agent+"Disallow: /\nAllow: /foo/bar/\u30c4\n", "+/foo/bar/%E3%83%84") // ID_Encoding
	verdicts(t, agent+"Disallow: /\nAllow: /foo/bar/%E3%83%84\n", "+/foo/bar/%E3%83%84", "+/foo/bar/%e3%83%84")
	// RFC 9309, 2.2.2, against upstream
	verdicts(t, agent+"Disallow: /\nAllow: /foo/bar/%62%61%7A\n", "+/foo/bar/%62%61%7A", "+/foo/bar/baz")
	// ID_SpecialCharacters
	verdicts(t, agent+"Disallow: /foo/bar/quz\nAllow: /foo/*/qux\n", "-/foo/bar/quz", "+/foo/quz", "+/foo//quz",
		"+/foo/bax/quz")
	// ID_SpecialCharacters
	verdicts(t, agent+"Disallow: /foo/bar$\nAllow: /foo/bar/qux\n", "-/foo/bar", "+/foo/bar/qux", "+/foo/bar/",
		"+/foo/bar/baz")
	verdicts(t, agent+"Disallow: /a$b\nDisallow: /c$$\n", "-/a$b", "-/a%24bc", "+/a", "-/c$", "+/c")
	// ID_SpecialCharacters
	verdicts(t, "User-agent: *\n# Disallow: /\nDisallow: /foo/quz#qux\nAllow: /\n", "+/foo/bar", "-/foo/quz")
	// GoogleOnly_IndexHTMLisDirectory
	verdicts(t, "User-agent: orbweaver\nallow: /allowed-slash/index.html\nDisallow: /\n", "+/allowed-slash/",
		"-/allowed-slash/index.htm", "-/anyother-url")
}
