package fetch

import (
	"fmt"
	"slices"
	"strings"
)

// ownHeaders are the names that an operator cannot set: the crawler sets them itself, or an answer to them would not be
// the page.
func ownHeaders() []string {
	return []string{
		"host", "user-agent", "from", "accept-encoding", "connection", "keep-alive", "content-length", "transfer-encoding",
		"te", "trailer", "upgrade", "expect", "range", "if-range", "if-match", "if-none-match", "if-modified-since",
		"if-unmodified-since",
	}
}

// secretHeaders are the names whose values must not be in the archive.
func secretHeaders() []string {
	return []string{"authorization", "proxy-authorization", "cookie"}
}

// checkHeaderLine reports what is wrong with a line NAME: VALUE.
func checkHeaderLine(line string) error {
	name, value, found := cutHeaderLine(line)
	lower := strings.ToLower(name)
	switch {
	case !found || !isToken(name) || value == "":
		return fmt.Errorf("--header: %q is not a line such as 'Accept-Language: de'", line)
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return fmt.Errorf("--header: %s has a control character in its value", name)
	case slices.Contains(ownHeaders(), lower):
		return fmt.Errorf("--header: %s is set by the crawler itself", name)
	case slices.Contains(secretHeaders(), lower):
		return fmt.Errorf(
			"--header: %s would be stored in the archive: give passwords with --netrc, cookies with --load-cookies",
			name,
		)
	}
	return nil
}

// cutHeaderLine splits a line at its colon.
func cutHeaderLine(line string) (name, value string, found bool) {
	name, value, found = strings.Cut(line, ":")
	return strings.TrimRight(name, " \t"), strings.TrimSpace(value), found
}

// isToken reports whether a text can be the name of a field (RFC 9110, section 5.6.2).
func isToken(text string) bool {
	for i := range len(text) {
		c := text[i]
		if letter := c | 0x20; (letter < 'a' || letter > 'z') && (c < '0' || c > '9') &&
			strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return text != ""
}
