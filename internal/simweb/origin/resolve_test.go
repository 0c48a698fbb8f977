package origin

import (
	"net/url"
	"strings"
	"testing"
)

// resolve resolves a reference and brings it to normal form by the WHATWG rules, as far as this world needs them: what
// browsers do before RFC 3986, and then net/url.
func resolve(t *testing.T, base, ref string) string {
	t.Helper()
	ref = strings.Trim(ref, "\x00 \t\r\n")
	ref = strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(ref)
	front, behind, found := strings.Cut(ref, "?")
	front = strings.NewReplacer("\\", "/", "%2e", ".", "%2E", ".", " ", "%20").Replace(front)
	ref = front
	if found {
		ref += "?" + behind
	}
	b, err := url.Parse(base)
	if err != nil {
		t.Fatalf("%q: %v", base, err)
	}
	r, err := url.Parse(ref)
	if err != nil {
		t.Fatalf("%q: %v", ref, err)
	}
	u := b.ResolveReference(r)
	u.User, u.Fragment = nil, ""
	u.Host = strings.ToLower(u.Host)
	switch u.Scheme {
	case "http":
		u.Host = strings.TrimSuffix(u.Host, ":80")
	case "https":
		u.Host = strings.TrimSuffix(u.Host, ":443")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}
