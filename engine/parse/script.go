package parse

import "bytes"

// speculativeMax is the largest number of speculative links of one body.
const speculativeMax = 1000

// scanScript reports the strings of a script or of JSON that look like URLs: whole http and https URLs, and paths from
// the root of the site. It looks at each slash that follows a quote or "http:", and reads no syntax. A string must be
// one URL from quote to quote: nothing is put together.
func (l *linkList) scanScript(b []byte) {
	l.text.work += len(b)
	for p := 0; l.speculative < speculativeMax; {
		i := bytes.IndexByte(b[p:], '/')
		if i < 0 {
			return
		}
		p += i
		if p == 0 || class[b[p-1]]&isIdent != 0 || b[p-1] == ' ' || b[p-1] == '/' { // most slashes
			p++
			continue
		}
		start, rooted := beginOfURL(b, p)
		if start < 0 {
			p++
			continue
		}
		end := endOfURL(b, start)
		if end < 0 {
			p++
			continue
		}
		if ref := l.unescapeJSON(b[start:end]); rooted && plausiblePath(ref) || !rooted && plausibleURL(ref) {
			l.speculative++
			l.add(Speculative, ref, false)
		}
		p = end
	}
}

// beginOfURL returns where the string begins whose first slash is b[p], and whether it begins with that slash. It
// returns -1 if no string with a URL does.
func beginOfURL(b []byte, p int) (start int, rooted bool) {
	if p > 0 && b[p-1] == '\\' { // JSON writes \/ for a slash
		p--
	}
	if p == 0 {
		return -1, false
	}
	if isQuote(b[p-1]) {
		return p, true
	}
	if b[p-1] != ':' {
		return -1, false
	}
	for _, scheme := range [...]nameKey{"https:", "http:"} {
		if from := p - len(scheme); from > 0 && isQuote(b[from-1]) && fold(b[from:p], scheme) {
			return from, false
		}
	}
	return -1, false
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// endOfURL returns where the string that begins at b[start], after a quote, ends with the same quote. It returns -1 if
// the string has a byte that no URL has.
func endOfURL(b []byte, start int) int {
	quote := b[start-1]
	for p := start; p < len(b); p++ {
		switch c := b[p]; {
		case c == quote:
			return p
		case c == '\\' && p+1 < len(b) && b[p+1] == '/':
		case c == '\\' && p+1 < len(b) && b[p+1] == quote: // the string is within another one
			return p
		case c == '\\' && bytes.HasPrefix(b[p:], []byte(`\u0026`)):
			p += len(`u0026`)
		case class[c]&isURL == 0:
			return -1
		}
	}
	return -1
}

// unescapeJSON returns ref without escapes.
func (l *linkList) unescapeJSON(ref []byte) []byte {
	if bytes.IndexByte(ref, '\\') < 0 {
		return ref
	}
	start := len(l.text.arena)
	for p := 0; p < len(ref); p++ {
		switch {
		case ref[p] != '\\':
			l.text.arena = append(l.text.arena, ref[p])
		case ref[p+1] == 'u':
			l.text.arena = append(l.text.arena, '&')
			p += len(`u0026`)
		}
	}
	return l.text.arena[start:len(l.text.arena):len(l.text.arena)]
}

// plausibleURL reports whether an http or https URL has a host with a dot, and is not the name of an XML namespace or
// of a vocabulary.
func plausibleURL(ref []byte) bool {
	_, rest, _ := bytes.Cut(ref, []byte(":"))
	rest, ok := bytes.CutPrefix(rest, []byte("//"))
	if !ok {
		return false
	}
	host := rest
	if i := bytes.IndexAny(rest, "/?#"); i >= 0 {
		host = rest[:i]
	}
	switch {
	case fold(host, "www.w3.org"), fold(host, "schema.org"), fold(host, "ogp.me"):
		return false
	}
	dot := bytes.IndexByte(host, '.')
	return dot > 0 && dot < len(host)-1
}

// plausiblePath reports whether a path from the root has the form of one: it begins with a name, and has a file
// extension, a second name, or a slash at its end. A colon or an asterisk makes it a pattern.
func plausiblePath(ref []byte) bool {
	if len(ref) < 3 || class[ref[1]]&isIdent == 0 {
		return false
	}
	slash, dot, end := 0, 0, len(ref)
	for i := 1; i < end; i++ {
		switch c := ref[i]; c {
		case '/':
			slash, dot = i, 0
		case '.':
			dot = i
		case '?', '#':
			end = i
		case ':', '*', '(', ')', '[', ']', ',', ';', '=', '+', '!':
			return false
		}
	}
	if slash > 0 {
		return true
	}
	extension := end - dot - 1
	return dot > 1 && extension >= 2 && extension <= 5
}
