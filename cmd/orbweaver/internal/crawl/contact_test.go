package crawl

import (
	"io"
	"net/netip"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// TestPublicCrawlAsksForContact begins no crawl: private names and addresses need no contact, and are not reached
// either.
func TestPublicCrawlAsksForContact(t *testing.T) {
	for _, c := range []struct {
		nets, seed string
		needed     bool
	}{
		{"127.0.0.0/8", "http://127.0.0.1:1/", false},
		{"127.0.0.0/8", "http://localhost:1/", false},
		{"10.0.0.0/8", "http://site.test/", false},
		{"10.0.0.0/8", "http://example.org/", true},
		{"10.0.0.0/8", "http://127.0.0.1/", true},
		{"", "http://site.test/", true},
	} {
		cmd := parsed(t, "crawl", "--resolver", "127.0.0.1:1", "--dir", t.TempDir(), "--allow-net", c.nets, c.seed)
		if c.nets == "" {
			cmd.AllowNet = nil
		}
		_, _, err := cmd.settings(&command.Invocation{Context: t.Context(), Stdin: strings.NewReader(""), Stderr: io.Discard})
		if needed := err != nil && strings.Contains(err.Error(), "--contact"); needed != c.needed || err != nil && !needed {
			t.Errorf("%s within %q: %v", c.seed, c.nets, err)
		}
	}
}

// A contact is a URL or a mail address: site owners must be able to use it.
func TestContactIsAURLOrAMailAddress(t *testing.T) {
	for contact, good := range map[string]bool{
		"https://example.org/bot": true, "http://example.org": true, "me@example.org": true, "mailto:me@example.org": true,
		"nonsense": false, "example.org": false, "https://": false, "me@": false, "Me <me@example.org>": false,
		"ftp://example.org/": false, "two words": false, "": true,
	} {
		if err := CheckContact(contact); (err == nil) != good {
			t.Errorf("%q: %v", contact, err)
		}
	}
}

// The name of a seed needs no contact if the hosts file has it at allowed addresses.
func TestContactIsNotNeededForHostsOfThisMachine(t *testing.T) {
	nets := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	hosts := func(name string) []netip.Addr {
		return map[string][]netip.Addr{
			"docs.example": {netip.MustParseAddr("10.1.2.3")},
			"both.example": {netip.MustParseAddr("10.1.2.3"), netip.MustParseAddr("192.0.2.1")},
		}[name]
	}
	for seed, words := range map[string]string{
		"http://docs.example/": "", "docs.example": "", "http://both.example/": "does not cover 192.0.2.1",
		"http://other.example/": `the name "other.example" of a seed may have any`,
	} {
		err := contactNeeded("", nets, &seedFiles{urls: []string{seed}}, hosts)
		if words == "" && err != nil || words != "" && (err == nil || !strings.Contains(err.Error(), words)) {
			t.Errorf("%s: %v", seed, err)
		}
	}
}
