package admission

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"orbweaver/internal/textfile"
)

// SeedURL finds the URL in a line that people write. Quotes and brackets around it go, and so does a comment behind it.
// Another text before or behind it, such as a title, is returned as left, since it is no part of the URL. A single
// blank ends no URL: browsers take it for %20.
func SeedURL(line []byte) (url, left []byte) {
	line = textfile.Trim(textfile.UTF8(line))
	begin, closers := seedBegin(line)
	before, rest := line[:begin], line[begin:]
	end := seedEnd(rest)
	if at := bytes.IndexAny(rest, closers); closers != "" && at >= 0 {
		end = at
	}
	url = textfile.Trim(bytes.TrimSuffix(rest[:end], []byte{'"'}))
	behind := bytes.TrimFunc(rest[end:], isSeparator)
	if bytes.HasPrefix(behind, []byte{'#'}) {
		behind = nil
	}
	left = bytes.TrimFunc(before, isSeparator)
	if len(bytes.Trim(left, "0123456789.")) == 0 { // the number of a list
		left = nil
	}
	return url, textfile.Trim(bytes.Join([][]byte{left, behind}, []byte{' '}))
}

// seedOpeners are quotes and brackets that may stand before a URL, each with those that may close it.
func seedOpeners() map[rune]string {
	return map[rune]string{
		'"': `"`, '\'': "'", '`': "`", '<': ">", '“': `”“"`, '„': `“”"`, '‘': "’'", '‚': "‘’", '«': "»", '‹': "›",
	}
}

// seedBegin returns where the URL of a line begins, and the characters that end it if a quote or bracket is before it.
func seedBegin(line []byte) (begin int, closers string) {
	first, size := utf8.DecodeRune(line)
	if closers = seedOpeners()[first]; closers != "" {
		if !bytes.ContainsAny(line[size:], closers) {
			closers = ""
		}
		return size, closers
	}
	lower := strings.ToLower(string(line))
	at := strings.Index(lower, "http:/")
	if s := strings.Index(lower, "https:/"); s >= 0 && (at < 0 || s < at) {
		at = s
	}
	if at <= 0 || len(lower) != len(line) || bytes.ContainsAny(line[:at], "/?=:#%") {
		return 0, "" // it begins with its scheme, has none, or is a URL that has another one in its query
	}
	last, _ := utf8.DecodeLastRune(line[:at])
	switch {
	case last == '(':
		closers = ")"
	case last == '[':
		closers = "]"
	case seedOpeners()[last] != "":
		closers = seedOpeners()[last]
	case !unicode.IsSpace(last) && !strings.ContainsRune(",;|", last):
		return 0, ""
	}
	return at, closers
}

// seedEnd returns where the URL ends that a text begins with.
func seedEnd(text []byte) int {
	end := len(text)
	isEnd := func(r rune) bool { return r != ' ' && unicode.IsSpace(r) || unicode.IsControl(r) }
	if at := bytes.IndexFunc(text, isEnd); at >= 0 {
		end = at
	}
	for _, separator := range []string{
		" #", "  ", ", ", "; ", " - ", " – ", " — ", " | ", " \"", " <", " http:", " https:",
	} {
		if at := bytes.Index(text[:end], []byte(separator)); at > 0 {
			end = at
		}
	}
	return end
}

// isSeparator reports whether a character stands between a URL and its title.
func isSeparator(r rune) bool {
	return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune(",;|-–—*•()[]<>\"'`“”„‘’‚«»‹›", r)
}

// CompleteSeed returns the URL of a seed as people write it: see SeedURL. It puts http:// before a host without a
// scheme, such as example.org or localhost:8080/page. Heritrix and wget do the same. A server that wants https
// redirects, and a redirect of a seed is followed; a server without https would not answer.
func CompleteSeed(raw []byte) []byte {
	raw, _ = SeedURL(raw)
	authority := raw
	if i := bytes.IndexAny(raw, "/?#\\"); i >= 0 {
		authority = raw[:i]
	}
	host, port, found := bytes.Cut(authority, []byte(":"))
	for _, c := range port {
		if c < '0' || c > '9' {
			return raw // a scheme
		}
	}
	if found && len(port) == 0 || !isBareHost(host) {
		return raw
	}
	return append([]byte("http://"), raw...)
}

// isBareHost reports whether a text without a scheme is meant as the name of a host.
func isBareHost(host []byte) bool {
	if string(host) == "localhost" {
		return true
	}
	dot := bytes.IndexByte(host, '.')
	return dot > 0 && dot < len(host)-1 && !bytes.ContainsAny(host, "@ \t") && !bytes.Contains(host, []byte(".."))
}
