package filter

import (
	"bytes"
	"fmt"
	"strings"

	"orbweaver/internal/urlx"
)

// readSURT parses one rule of a list of SURT prefixes. The prefix is the text after http://(, in lower case. A rule
// that no URL can match is an error.
func readSURT(text string) (sign verdict, prefix string, err error) {
	sign = plus
	switch text[:min(1, len(text))] {
	case "+":
		text = text[1:]
	case "-":
		text, sign = text[1:], minus
	}
	text = strings.TrimSpace(text)
	scheme, rest, whole := strings.Cut(text, "://")
	scheme = strings.ToLower(scheme)
	bad := func(why string) (verdict, string, error) {
		return silent, "", fmt.Errorf("%w: %q: %s", ErrSURT, text, why)
	}
	switch {
	case text == "":
		return bad("it is empty")
	case whole && scheme != "http" && scheme != "https":
		return bad("the scheme is neither http nor https")
	case whole && rest == "":
		return sign, "", nil
	case whole && rest[0] == '(':
		prefix = strings.ToLower(rest[1:])
		if why := judgeSURT(prefix); why != "" {
			return bad(why)
		}
	case strings.ContainsAny(text, "(,)"):
		return bad("a SURT begins with http://( as in http://(org,example,")
	default:
		var why string
		if prefix, why = surtOfURL(text, whole); why != "" {
			return bad(why)
		}
	}
	if len(prefix) > surtMax {
		return bad(fmt.Sprintf("it is longer than %d bytes", surtMax))
	}
	return sign, prefix, nil
}

// surtOfURL returns the prefix for a URL or a host.
func surtOfURL(text string, whole bool) (prefix, why string) {
	if strings.ContainsAny(text, " \t") {
		return "", "it has a blank: write one prefix on each line, and # before a comment"
	}
	if !whole {
		text = "http://" + strings.TrimPrefix(text, ".") // a leading dot, as in lists of hosts, changes nothing here
	}
	_, rest, _ := strings.Cut(text, "://")
	url, err := urlx.Normalize(nil, []byte(text))
	if err != nil {
		return "", urlx.Reason(err)
	}
	p, ok := split(url)
	if !ok || bytes.IndexByte(p.host, '*') >= 0 {
		return "", "a prefix has no *; a host stands for itself and all below it"
	}
	surt := string(appendSURT(make([]byte, 0, len(url)+8), p))
	authority, path, _ := strings.Cut(surt, ")")
	switch {
	case !strings.Contains(rest, "/") && (len(p.port) > 0 || isAddress(p.host)):
		return authority + ")", ""
	case !strings.Contains(rest, "/"):
		return authority, ""
	default:
		path, _, _ = strings.Cut(path, "?")
		return authority + ")" + path[:strings.LastIndexByte(path, '/')+1], ""
	}
}

// judgeSURT says why no URL can begin with prefix; "" if some can.
func judgeSURT(prefix string) (why string) {
	if strings.IndexFunc(prefix, func(r rune) bool { return r <= ' ' || r >= 0x7f }) >= 0 {
		return "it holds a character that no normal form has: names are punycode, paths are escaped"
	}
	authority, path, closed := strings.Cut(prefix, ")")
	name, port, ported := authority, "", false
	if !strings.HasPrefix(authority, "[") {
		name, port, ported = strings.Cut(authority, ":")
	}
	last := name[strings.LastIndexByte(name, ',')+1:]
	switch {
	case strings.Contains(authority, "*"):
		return "a prefix has no *; it fits all that begins so"
	case strings.ContainsAny(authority, "/@"):
		return "there is no ) before the path, or a user name"
	case strings.Contains(name, ".") && strings.Trim(name, "0123456789.") != "" && name[0] != '[':
		return "the labels of the host are separated by commas, the last one first"
	case strings.Trim(port, "0123456789") != "":
		return "the port is no number"
	case (closed || ported) && last != "" && strings.Trim(last, "0123456789.") != "" && last[0] != '[':
		return "a comma is missing behind the last label"
	case path != "" && path[0] != '/':
		return "a path begins with a slash"
	}
	return ""
}
