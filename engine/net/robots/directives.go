package robots

import "bytes"

// Directives are what a page asks of robots: the robots meta element and the X-Robots-Tag header.
type Directives uint8

// The known directives; all others tell search engines how to show a page.
const (
	NoFollow Directives = 1 << iota // do not follow the links of the page
	NoIndex                         // do not show the page
)

// ParseTag parses the value of one X-Robots-Tag field. agent is a product token. It returns the directives for all
// robots and for agent; the caller combines those of several fields. It borrows value.
//
// The value is a list separated by commas. "name:" before a directive makes it, and those after it, valid for that
// robot only: "noindex, otherbot: nofollow" has nofollow for otherbot only. Case does not matter.
func ParseTag(value []byte, agent string) (d Directives) {
	ours := true
	for len(value) > 0 {
		var one []byte
		one, value, _ = bytes.Cut(value, []byte(","))
		if name, rest, ok := bytes.Cut(one, []byte(":")); ok && !takesValue(bytes.Trim(name, blanks)) {
			name = bytes.Trim(name, blanks)
			if token := productToken(name); len(token) > 0 && (len(token) == len(name) || name[len(token)] == '/') {
				one, ours = rest, bytes.EqualFold(token, []byte(agent))
			}
		}
		if ours {
			d |= directive(bytes.Trim(one, blanks))
		}
	}
	return d
}

// directive parses a directive, or several that are separated by spaces.
func directive(words []byte) (d Directives) {
	for _, word := range bytes.FieldsFunc(words, func(r rune) bool { return r == ' ' || r == '\t' }) {
		switch {
		case bytes.EqualFold(word, []byte("none")):
			d |= NoFollow | NoIndex
		case bytes.EqualFold(word, []byte("nofollow")):
			d |= NoFollow
		case bytes.EqualFold(word, []byte("noindex")):
			d |= NoIndex
		}
	}
	return d
}

// takesValue reports whether a name before a colon is a directive and not a robot.
func takesValue(name []byte) bool {
	for _, one := range []string{"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"} {
		if bytes.EqualFold(name, []byte(one)) {
			return true
		}
	}
	return false
}
