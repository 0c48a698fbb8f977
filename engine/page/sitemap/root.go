package sitemap

import "bytes"

// rootMax is how many bytes of a file are searched for its root element, or for the first URL of a list.
const rootMax = 32 << 10

// doctypeMax is how many bytes of a document type are searched for the beginning of its declarations.
const doctypeMax = 1 << 10

// skipToRoot skips what stands before the root element of a file that is called a sitemap, or before the first URL of a
// list. It reports false for a file that has none in start.
func (r *Reader) skipToRoot(start []byte) bool {
	if beginsAbsolute(start) {
		return true
	}
	at, isPage := r.rootOf(start)
	if at < 0 && !isPage {
		at = listOf(start)
	}
	if at < 0 {
		return false
	}
	r.win.pos += at
	return true
}

// rootOf returns the place of the root element; -1 if there is none. isPage says that the file is HTML: elements of
// feeds in it are no roots.
func (r *Reader) rootOf(start []byte) (at int, isPage bool) {
	for i := 0; ; i++ {
		next := bytes.IndexByte(start[i:], '<')
		if next < 0 {
			return -1, isPage
		}
		i += next
		switch rest := start[i:]; {
		case bytes.HasPrefix(rest, []byte("<!--")):
			i += endOf(rest, "-->")
		case bytes.HasPrefix(rest, []byte("<![CDATA[")):
			i += endOf(rest, "]]>")
		case bytes.HasPrefix(rest, []byte("<?")):
			i += endOf(rest, "?>")
		case bytes.HasPrefix(rest, []byte("<!")):
			if end := bytes.IndexAny(rest[:min(len(rest), doctypeMax)], "[>"); end >= 0 && rest[end] == '[' { // declarations
				i += end + endOf(rest[end:], "]")
			}
		case len(rest) > 1 && startsTag(rest[1]):
			t := cutTag(rest[1 : 1+nameEnd(rest[1:])])
			if t.end || len(t.prefix) > prefixMax {
				break
			}
			switch f := formatOf(r.lower(t.local)); {
			case f == Pages, f == Index, f == Feed && !isPage:
				return i, isPage
			}
			isPage = isPage || bytes.EqualFold(t.local, []byte("html")) || bytes.EqualFold(t.local, []byte("body"))
		}
		if i >= len(start) {
			return -1, isPage
		}
	}
}

// nameEnd returns the length of the name at the start of a tag; 0 for a name that is longer than that of any root.
func nameEnd(b []byte) int {
	b = b[:min(len(b), prefixMax+len(":sitemapindex>"))]
	if end := bytes.IndexAny(b, " \t\r\n>"); end >= 0 {
		return end
	}
	return 0
}

// endOf returns the place of the last byte of mark; the last of b without one.
func endOf(b []byte, mark string) int {
	if end := bytes.Index(b, []byte(mark)); end >= 0 {
		return end + len(mark) - 1
	}
	return len(b) - 1
}

// listOf returns the place of the first line that is a URL; -1 if there is none.
func listOf(start []byte) int {
	for at := 0; at < len(start); {
		end := bytes.IndexAny(start[at:], "\r\n")
		if end < 0 {
			end = len(start) - at
		}
		line := start[at : at+end]
		blank := len(line) - len(bytes.TrimLeft(line, " \t"))
		if absolute(bytes.TrimSpace(line)) && !bytes.ContainsAny(bytes.TrimSpace(line), " \t<>\"") {
			return at + blank
		}
		at += end + 1
	}
	return -1
}

// beginsAbsolute reports whether a file begins with a URL: it is a list.
func beginsAbsolute(start []byte) bool {
	const secure, plain = "https://", "http://"
	return bytes.EqualFold(start[:min(len(start), len(secure))], []byte(secure)) ||
		bytes.EqualFold(start[:min(len(start), len(plain))], []byte(plain))
}

// prefixMax is the longest prefix of a root element, in bytes.
const prefixMax = 16

// prefix is the prefix of an element.
type prefix struct {
	text [prefixMax]byte
	size int
}

func (p *prefix) set(b []byte) {
	if len(b) <= prefixMax {
		p.size = copy(p.text[:], b)
	}
}

func (p *prefix) is(b []byte) bool { return string(b) == string(p.text[:p.size]) }

// lower returns a name in lower case, in scratch space. Longer names than any that counts stay as they are.
func (r *Reader) lower(name []byte) []byte {
	if len(name) > len(r.name) {
		return name
	}
	for i, c := range name {
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		r.name[i] = c
	}
	return r.name[:len(name)]
}
