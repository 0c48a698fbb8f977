package crawl

import (
	"io"
	"strings"
	"testing"

	"orbweaver/cmd/orbweaver/internal/command"
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
