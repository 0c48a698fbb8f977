package cookie

import (
	"bytes"
	"net/netip"
	"strings"
	"time"

	"orbweaver/internal/urlx"
)

// lifeMax is the longest lifetime of a cookie, whatever the server says (RFC 6265bis, section 5.5).
const lifeMax = 400 * 24 * time.Hour

// cookie is a name-value pair with its path and lifetime.
type cookie struct {
	name, value string // as they came; the name may be empty
	path        string // begins with a slash
	until       int64  // expiry in Unix nanoseconds; 0 for the lifetime of the Jars
}

// parse parses a Set-Cookie field of the response to url. It returns false if the field is invalid or not for this
// site.
func parse(field, url []byte, now time.Time) (cookie, bool) {
	if len(field) > siteBytes {
		return cookie{}, false // larger than any jar
	}
	h, ok := readSetCookie(field)
	if !ok {
		return cookie{}, false
	}
	c := cookie{name: string(h.name), value: string(h.value), path: string(h.path)}
	prefixed := c.name
	if prefixed == "" {
		prefixed = c.value // servers would take it for a name
	}
	switch {
	case h.secure && !urlx.HTTPS(url),
		!inDomain(string(urlx.Host(url)), string(h.domain)),
		hasPrefixFold(prefixed, "__Secure-") && (!h.secure || c.name == ""),
		hasPrefixFold(prefixed, "__Host-") && (!h.secure || len(h.domain) > 0 || c.path != "/" || c.name == ""):
		return cookie{}, false
	}
	if !strings.HasPrefix(c.path, "/") {
		_, path := urlx.Split(url)
		c.path = defaultPath(path)
	}
	if c.size() > siteBytes {
		return cookie{}, false
	}
	switch { // Max-Age takes precedence over Expires
	case h.hasMaxAge && h.maxAge <= 0:
		c.until = now.UnixNano()
	case h.hasMaxAge:
		c.until = now.Add(time.Duration(min(h.maxAge, int64(lifeMax/time.Second))) * time.Second).UnixNano()
	case !h.expires.IsZero():
		end := h.expires
		if latest := now.Add(lifeMax); end.After(latest) {
			end = latest
		}
		c.until = max(end.Unix(), 0)*int64(time.Second) + 1 // plus 1, since 0 means no expiry
	}
	return c, true
}

// ended reports whether the cookie has expired.
func (c *cookie) ended(now time.Time) bool { return c.until != 0 && c.until <= now.UnixNano() }

// covers reports whether the cookie is sent with a request for path, which may have a query.
func (c *cookie) covers(path []byte) bool {
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	if len(path) == 0 {
		path = []byte{'/'}
	}
	if len(path) < len(c.path) || string(path[:len(c.path)]) != c.path {
		return false
	}
	return len(path) == len(c.path) || c.path[len(c.path)-1] == '/' || path[len(c.path)] == '/'
}

func (c *cookie) append(dst []byte) []byte {
	if c.name != "" {
		dst = append(append(dst, c.name...), '=')
	}
	return append(dst, c.value...)
}

// size returns what counts against the limit of the site, in bytes.
func (c *cookie) size() int { return len(c.name) + len(c.value) + len(c.path) }

// memory returns the approximate memory in bytes.
func (c *cookie) memory() int64 { return int64(c.size() + cookieMemory) }

// defaultPath returns the path of a cookie without one: the request path up to its last slash.
func defaultPath(path []byte) string {
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	i := bytes.LastIndexByte(path, '/')
	if i <= 0 || path[0] != '/' {
		return "/"
	}
	return string(path[:i])
}

// inDomain reports whether host may set cookies for domain: for its own name or a parent domain. An address has no
// parent.
func inDomain(host, domain string) bool {
	domain = strings.ToLower(strings.TrimPrefix(domain, "."))
	if domain == "" || host == domain {
		return true
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	return strings.HasSuffix(host, "."+domain)
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
