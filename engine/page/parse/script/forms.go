package script

import "bytes"

// IsAddress reports whether a value that may be anything has the form of a URL: it is absolute, or a path from the
// root or from the directory, or the name of a page or an image.
func IsAddress(ref []byte) bool {
	for _, c := range ref {
		if class[c]&isURL == 0 {
			return false
		}
	}
	switch {
	case len(ref) < 2:
		return false
	case ref[0] == '/':
		return class[ref[1]]&isIdent != 0 && !isPattern(ref)
	case bytes.HasPrefix(ref, []byte("./")), bytes.HasPrefix(ref, []byte("../")):
		return !isPattern(ref)
	case beginsWith(ref, "http:"), beginsWith(ref, "https:"):
		return isAbsolute(ref)
	}
	return isFile(ref)
}

func beginsWith(ref []byte, scheme string) bool {
	return bytes.EqualFold(ref[:min(len(ref), len(scheme))], []byte(scheme))
}

// isAbsolute reports whether an http or https URL has a host with a dot, and is not the name of an XML namespace or of
// a vocabulary.
func isAbsolute(ref []byte) bool {
	_, rest, _ := bytes.Cut(ref, []byte(":"))
	rest, ok := bytes.CutPrefix(rest, []byte("//"))
	if !ok {
		return false
	}
	host := rest
	if i := bytes.IndexAny(rest, "/?#"); i >= 0 {
		host = rest[:i]
	}
	for _, name := range [...]string{"www.w3.org", "schema.org", "ogp.me", "jsonfeed.org"} {
		if bytes.EqualFold(host, []byte(name)) {
			return false
		}
	}
	dot := bytes.IndexByte(host, '.')
	return dot > 0 && dot < len(host)-1
}

// isPath reports whether a path from the root has the form of one: it begins with a name, and has a file extension, a
// second name, or a slash at its end. A colon or an asterisk makes it a pattern.
func isPath(ref []byte) bool {
	if len(ref) < 3 || class[ref[1]]&isIdent == 0 {
		return false
	}
	slash, dot, end := 0, 0, len(ref)
	for i := 1; i < end; i++ {
		switch c := ref[i]; {
		case c == '/':
			slash, dot = i, 0
		case c == '.':
			dot = i
		case c == '?' || c == '#':
			end = i
		case class[c]&ofPattern != 0:
			return false
		}
	}
	if slash > 0 {
		return true
	}
	extension := end - dot - 1
	return dot > 1 && extension >= 2 && extension <= 5
}

// isPattern reports whether the path of a reference has a byte of a pattern or a template.
func isPattern(ref []byte) bool {
	for _, c := range pathOf(ref) {
		if class[c]&ofPattern != 0 {
			return true
		}
	}
	return false
}

func pathOf(ref []byte) []byte {
	if i := bytes.IndexAny(ref, "?#"); i >= 0 {
		return ref[:i]
	}
	return ref
}

// isFile reports whether a reference is a relative path whose last name is that of a page or an image.
func isFile(ref []byte) bool {
	path := pathOf(ref)
	dot := bytes.LastIndexByte(path, '.')
	if dot < 1 || path[dot-1] == '/' || path[0] == '/' || isPattern(ref) {
		return false
	}
	for _, extension := range [...]string{
		"html", "htm", "shtml", "xhtml", "php", "php3", "asp", "aspx", "jsp", "cfm", "cgi", "pdf", "jpg", "jpeg", "gif",
		"png", "swf",
	} {
		if bytes.EqualFold(path[dot+1:], []byte(extension)) {
			return true
		}
	}
	return false
}

// isRelative reports whether a reference has neither a scheme nor a slash in front, and is not a part of its own page.
func isRelative(ref []byte) bool {
	if len(ref) == 0 || ref[0] == '/' || ref[0] == '#' {
		return false
	}
	end := bytes.IndexAny(ref, ":/?#")
	return end < 0 || ref[end] != ':'
}

// The classes of bytes in scripts.
const (
	isURL        = 1 << iota // may be part of a URL
	isIdent                  // may be part of a name
	isWhite                  // space, tab, line end
	ofClause                 // may stand between import and from
	ofPattern                // not part of a plain path
	leadsToSlash             // may stand in front of the first slash of a URL
	endsName                 // ends a name in XML
)

var class = func() (t [256]byte) {
	for c := 'a'; c <= 'z'; c++ {
		t[c] = isURL | isIdent | ofClause
		t[c-32] = t[c]
	}
	for c := '0'; c <= '9'; c++ {
		t[c] = isURL | isIdent | ofClause
	}
	for c := 0x80; c < 0x100; c++ {
		t[c] = isIdent | ofClause
	}
	for _, c := range "-_$" {
		t[c] |= isIdent | ofClause
	}
	for _, c := range "-_.~:/?#[]@!()*+,;=%&" {
		t[c] |= isURL
	}
	for _, c := range "{}*, \t\r\n" {
		t[c] |= ofClause
	}
	for _, c := range " \t\r\n" {
		t[c] |= isWhite | endsName
	}
	for _, c := range "/<>=\"'" {
		t[c] |= endsName
	}
	for _, c := range ":*()[],;=+!" {
		t[c] |= ofPattern
	}
	for _, c := range "\"'`:.\\" {
		t[c] |= leadsToSlash
	}
	return t
}()
