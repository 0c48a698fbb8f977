package script

import "bytes"

// nextLocation looks at each word location near the start of a script.
func (r *Reader) nextLocation() (Link, bool) {
	const word, gap = "location", 24
	b := r.b
	for {
		i := bytes.Index(b[r.p:max(r.p, min(len(b), locationsMost))], []byte(word))
		if i < 0 {
			return Link{}, false
		}
		r.p += i + len(word)
		quote := bytes.IndexAny(b[r.p:min(len(b), r.p+gap)], "\"'`")
		if quote < 0 {
			continue
		}
		quote += r.p
		if ref, end := r.stringFrom(quote); end > 0 && isRelative(ref) && leads(b, quote, end) {
			r.p = end
			return Link{Ref: ref}, true
		}
	}
}

// nextFile looks at each string of a handler.
func (r *Reader) nextFile() (Link, bool) {
	b := r.b
	for {
		quote := bytes.IndexAny(b[r.p:], "\"'`")
		if quote < 0 {
			return Link{}, false
		}
		quote += r.p
		r.p = quote + 1
		ref, end := r.stringFrom(quote)
		if end < 0 {
			continue
		}
		r.p = end + 1
		if isRelative(ref) && (leads(b, quote, end) || isFile(ref) && isWhole(b, end)) {
			return Link{Ref: ref}, true
		}
	}
}

// stringFrom returns the string of URL bytes behind a quote, without escapes, and where it ends; -1 if there is none.
func (r *Reader) stringFrom(quote int) (ref []byte, end int) {
	if end = endOfURL(r.b, quote+1); end <= quote+1 {
		return nil, -1
	}
	return r.unescape(r.b[quote+1 : end]), end
}

// leads reports whether a statement makes the browser go to the string between two quotes.
func leads(b []byte, quote, end int) bool {
	p := back(b, quote)
	if p < 2 || !isWhole(b, end) {
		return false
	}
	isCall := b[p-1] == '('
	if !isCall && (b[p-1] != '=' || bytes.IndexByte([]byte("=!<>+-*/%&|^?"), b[p-2]) >= 0) {
		return false
	}
	member, at := wordBefore(b, back(b, p-1))
	isMember, ofWindow, ofLocation := at > 0 && b[at-1] == '.', false, false
	if isMember {
		object, _ := wordBefore(b, at-1)
		ofWindow = isWindow(object) || at > 1 && b[at-2] == ']' // frames[0].location
		ofLocation = string(object) == "location"
	}
	isGlobal := !isMember && !isDeclared(b, at)
	switch string(member) {
	case "location":
		isPathLike := bytes.ContainsAny(b[quote+1:end], "./?")
		return !isCall && (ofWindow || isGlobal && isPathLike)
	case "href", "pathname":
		return !isCall && ofLocation
	case "replace", "assign":
		return isCall && ofLocation
	case "open":
		return isCall && (ofWindow || isGlobal)
	case "navigate":
		return isCall && ofWindow
	}
	return false
}

// isWindow reports whether a word names a window or a document.
func isWindow(word []byte) bool {
	switch string(word) {
	case "window", "document", "self", "top", "parent", "opener", "globalThis", "this":
		return true
	}
	return false
}

// isDeclared reports whether the word at b[at] is being declared, so that it is not the one of the browser.
func isDeclared(b []byte, at int) bool {
	word, _ := wordBefore(b, back(b, at))
	switch string(word) {
	case "var", "let", "const", "function":
		return true
	}
	return false
}

// isWhole reports whether the string that ends at b[end] is the whole value: nothing is added to it.
func isWhole(b []byte, end int) bool {
	for end < len(b) && b[end] == '\\' {
		end++
	}
	for end++; end < len(b) && class[b[end]]&isWhite != 0; end++ {
	}
	return end >= len(b) || b[end] != '+' && b[end] != '.'
}

// isImported reports whether the string between two quotes is the name of a module in an import or export.
func isImported(b []byte, quote, end int) bool {
	p := back(b, quote)
	if p > 0 && b[p-1] == '(' {
		word, at := wordBefore(b, back(b, p-1))
		return string(word) == "import" && !isType(b[end:]) &&
			(at == 0 || b[at-1] != '.' && b[at-1] != '\\' && !isQuote(b[at-1]))
	}
	switch word, at := wordBefore(b, p); string(word) {
	case "import":
		return beginsStatement(b, at)
	case "from":
		return isClause(b, at)
	}
	return false
}

// isType reports whether what follows the name of a module makes a type of it, in a comment: import("./a").Name.
func isType(rest []byte) bool {
	rest, ok := bytes.CutPrefix(rest[min(len(rest), 1):], []byte(")."))
	if !ok {
		return false
	}
	for _, method := range [...]string{"then", "catch", "finally"} {
		if bytes.HasPrefix(rest, []byte(method)) {
			return false
		}
	}
	return true
}

// clauseMost is how many bytes may stand between import and from.
const clauseMost = 2 << 10

// isClause reports whether a clause of an import or export ends at b[end].
func isClause(b []byte, end int) bool {
	start := end
	for start > 0 && end-start < clauseMost && class[b[start-1]]&ofClause != 0 {
		start--
	}
	clause := b[start:end]
	at := max(bytes.LastIndex(clause, []byte("import")), bytes.LastIndex(clause, []byte("export")))
	return at >= 0 && class[b[start+at+len("import")]]&isIdent == 0 && beginsStatement(b, start+at)
}

// beginsStatement reports whether what is before b[at] ends a statement.
func beginsStatement(b []byte, at int) bool {
	for at > 0 && (b[at-1] == ' ' || b[at-1] == '\t') {
		at--
	}
	return at == 0 || bytes.IndexByte([]byte("\r\n;{})/>"), b[at-1]) >= 0
}

// isAsset reports whether a string is that of new URL("...", import.meta.url).
func isAsset(b []byte, quote, end int) bool {
	p := back(b, quote)
	if p == 0 || b[p-1] != '(' {
		return false
	}
	rest := bytes.TrimLeft(b[end+1:min(len(b), end+len(", import.meta.url")+spacesMost)], " \t\r\n,")
	word, _ := wordBefore(b, p-1)
	return string(word) == "URL" && bytes.HasPrefix(rest, []byte("import.meta.url"))
}

// spacesMost is how many spaces between two words are passed over.
const spacesMost = 16

// back returns where the white space in front of b[p] begins.
func back(b []byte, p int) int {
	for n := 0; p > 0 && class[b[p-1]]&isWhite != 0 && n < spacesMost; n++ {
		p--
	}
	return p
}

// wordMost is longer than all words that count.
const wordMost = 12

// wordBefore returns the word that ends at b[end], and where it begins; empty if it is longer than all that count.
func wordBefore(b []byte, end int) (word []byte, at int) {
	at = end
	for at > 0 && class[b[at-1]]&isIdent != 0 {
		if at--; end-at > wordMost {
			return nil, at
		}
	}
	return b[at:end], at
}
