package robots

import "bytes"

// Directives are what the owner of a page asks of robots that have it already.
type Directives uint8

// The directives that are known; all others say how a search engine should show a page.
const (
	NoFollow Directives = 1 << iota // take no links of it
	NoIndex                         // do not show it
)

// Tag reads the value of one X-Robots-Tag field for an agent, a product token, and returns what it adds. Of several fields, and
// of directives for all and for the agent, the sum counts. It borrows value.
//
// A value is a list with commas between. "name:" before a directive means that it and those after it are for the robot of that
// name only: "noindex, otherbot: nofollow" says nofollow to otherbot alone. None of it depends on case.
func Tag(value []byte, agent string) (d Directives) {
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

// directive reads one word, or several that somebody has put spaces between.
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

// takesValue says whether a name before a colon is a directive's and not a robot's.
func takesValue(name []byte) bool {
	for _, one := range []string{"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"} {
		if bytes.EqualFold(name, []byte(one)) {
			return true
		}
	}
	return false
}
