package replay

import (
	"bytes"
	"io"
	"strings"

	"golang.org/x/net/html"

	"orbweaver/internal/urlx"
)

// addressesMost is how many bytes the addresses of one page or style sheet take. A reference of two bytes may become an
// address of thousands.
const addressesMost = 64 << 20

// references turns references of a page or a style sheet into addresses of the archive.
type references struct {
	t    target
	base []byte
	used int64 // bytes of addresses
}

// address returns the address of a reference. ok is false if it leads nowhere in the archive.
func (r *references) address(ref string) (address string, ok bool) {
	if r.used > addressesMost {
		return "", false
	}
	url, ok := resolve(r.base, ref)
	if !ok {
		return "", false
	}
	address = r.t.address(url)
	r.used += int64(len(address))
	return address, true
}

// resolve returns a reference of a page as a whole URL of the web. Its fragment stays.
func resolve(base []byte, ref string) (url string, ok bool) {
	ref = strings.TrimSpace(ref)
	if ref == "" || ref[0] == '#' {
		return "", false
	}
	plain, fragment, has := strings.Cut(ref, "#")
	whole, err := urlx.Resolve(nil, base, []byte(plain))
	if err != nil {
		return "", false
	}
	url = string(whole)
	if has {
		url += "#" + fragment
	}
	return url, true
}

// isOwn reports whether a reference without address stays within the page, or is followed by a person alone. All others
// are left out.
func isOwn(ref string) bool {
	ref = strings.ToLower(strings.TrimSpace(ref[:min(len(ref), 100)]))
	return ref == "" || ref[0] == '#' || strings.HasPrefix(ref, "mailto:") || strings.HasPrefix(ref, "tel:")
}

// isData reports whether a reference has its content in it.
func isData(ref string) bool {
	ref = strings.TrimSpace(ref)
	return len(ref) >= len(dataScheme) && strings.EqualFold(ref[:len(dataScheme)], dataScheme)
}

const dataScheme = "data:"

// unescape removes the character references of an attribute, by the rules of attributes: "&copy=" and "&copying" are
// text.
func unescape(value []byte) string {
	if bytes.IndexByte(value, '&') < 0 {
		return string(value)
	}
	var out strings.Builder
	for rest := value; len(rest) > 0; {
		at := bytes.IndexByte(rest, '&')
		if at < 0 {
			out.Write(rest)
			break
		}
		out.Write(rest[:at])
		rest = rest[at:]
		end := 1
		for end < len(rest) && end < nameMost && (isAlpha(rest[end]) || isDigit(rest[end]) || rest[end] == '#') {
			end++
		}
		isEnded := end < len(rest) && rest[end] == ';'
		if isEnded {
			end++
		}
		name := string(rest[:end])
		plain := html.UnescapeString(name)
		isNumber := len(name) > 1 && name[1] == '#'
		isPart := len(plain) > 1 && plain[len(plain)-1] == name[len(name)-1] // what is left of the name is text
		if !isNumber && (isPart || !isEnded && end < len(rest) && rest[end] == '=') {
			plain = name
		}
		out.WriteString(plain)
		rest = rest[end:]
	}
	return out.String()
}

// writer is what references are written to. It keeps its first error.
type writer interface {
	io.Writer
	io.ByteWriter
	io.StringWriter
}

// quoted writes the value of an attribute in quotes. Wherever a browser takes it for text, no tag begins in it.
type quoted struct{ writer }

// WriteByte writes a byte, or its character reference.
func (q quoted) WriteByte(c byte) error {
	var err error
	switch c {
	case '&':
		_, err = q.writer.WriteString("&amp;")
	case '<':
		_, err = q.writer.WriteString("&lt;")
	case '>':
		_, err = q.writer.WriteString("&gt;")
	case '"':
		_, err = q.writer.WriteString("&#34;")
	default:
		err = q.writer.WriteByte(c)
	}
	return err //nolint:wrapcheck // the writer's own
}

// Write writes bytes.
func (q quoted) Write(p []byte) (int, error) {
	for _, c := range p {
		if err := q.WriteByte(c); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// WriteString writes a text.
func (q quoted) WriteString(s string) (int, error) {
	for i := range len(s) {
		if err := q.WriteByte(s[i]); err != nil {
			return 0, err
		}
	}
	return len(s), nil
}

// writeSet writes the images of a srcset with their addresses.
func (r *references) writeSet(out writer, set string) {
	isFirst := true
	for {
		set = strings.TrimLeft(set, " \t\n\r\f,")
		if set == "" {
			return
		}
		end := strings.IndexAny(set, " \t\n\r\f")
		if end < 0 {
			end = len(set)
		}
		ref, descriptor := set[:end], ""
		set = set[end:]
		if plain := strings.TrimRight(ref, ","); plain != ref {
			ref = plain
		} else {
			end := setEnd(set)
			descriptor, set = set[:end], set[end:]
		}
		if address, ok := r.address(ref); ok {
			ref = address
		} else if !isData(ref) {
			continue
		}
		if !isFirst {
			_, _ = out.WriteString(", ") // the writer keeps the error
		}
		isFirst = false
		_, _ = out.WriteString(ref)
		_, _ = out.WriteString(descriptor)
	}
}

// setEnd returns where the descriptor of an image in a srcset ends.
func setEnd(set string) int {
	depth := 0
	for i := range len(set) {
		switch c := set[i]; {
		case c == '(':
			depth++
		case c == ')':
			depth = max(0, depth-1)
		case c == ',' && depth == 0:
			return i
		}
	}
	return len(set)
}

// refresh returns the content of a refresh with the address that it leads to.
func (r *references) refresh(content string) (string, bool) {
	delay := strings.TrimLeft(content, " \t\n\r\f")
	end := 0
	for end < len(delay) && (isDigit(delay[end]) || delay[end] == '.') {
		end++
	}
	delay, ref := delay[:end], strings.TrimLeft(delay[end:], " \t\n\r\f;,")
	if len(ref) >= len("url") && strings.EqualFold(ref[:len("url")], "url") {
		if value, ok := strings.CutPrefix(strings.TrimLeft(ref[len("url"):], " \t\n\r\f"), "="); ok {
			ref = strings.TrimLeft(value, " \t\n\r\f")
		}
	}
	if ref != "" && (ref[0] == '"' || ref[0] == '\'') {
		ref, _, _ = strings.Cut(ref[1:], ref[:1])
	}
	address, ok := r.address(ref)
	return delay + "; url=" + address, ok
}
