package warc

import (
	"strings"
	"testing"
)

// Prefix and host are parts of a file name. They must not lead out of the directory, and have no special meaning for a
// shell or an operating system.
func TestHostile_A06_partsOfNamesThatClimbAreRefused(t *testing.T) {
	for _, part := range []string{
		"..", "../x", "a/../b", "/etc/x", `a\b`, "a/b", ".hidden", "-rf", "~", "a b", "a\x00b", "a\nb", "a:b", "%2e%2e",
		"\u00e4", "$(x)", "x*", strings.Repeat("x", 101),
	} {
		if (Options{Prefix: part}).WithDefaults().Validate() == nil {
			t.Errorf("prefix %q is taken", part)
		}
		if (Options{Host: part}).WithDefaults().Validate() == nil {
			t.Errorf("host %q is taken", part)
		}
	}
}
