package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"orbweaver/engine/filter"
	"orbweaver/internal/vfs"
)

// A rule for a range of addresses is warned of, at the start and when it is given, since it does not fit names; a rule for one address is not.
func TestHostRules_aRangeOfAddressesIsWarnedOf(t *testing.T) {
	for text, want := range map[string]bool{"192.0.2.0/24 exclude": true, "2001:db8::/32 host-delay=9s": true, "192.0.2.7 exclude": false, ".a.test exclude": false} {
		fixed, _, err := (*filter.HostRules)(nil).With(text)
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		fsys, log := vfs.NewMem(1), slog.New(slog.NewTextHandler(&said, nil))
		if err := fsys.MkdirAll("frontier"); err != nil {
			t.Fatal(err)
		}
		if _, err = openHostRules(fsys, "frontier", fixed, log); err != nil || strings.Contains(said.String(), rangesFit) != want {
			t.Errorf("%s in the file: %v, said %q", text, err, said.String())
		}
		h, err := openHostRules(fsys, "frontier", nil, log)
		if err != nil {
			t.Fatal(err)
		}
		said.Reset()
		if _, err := h.add([]string{text}); err != nil || strings.Contains(said.String(), rangesFit) != want {
			t.Errorf("%s while the crawl runs: %v, said %q", text, err, said.String())
		}
		if terms := h.terms([]byte("http://names.test/")); terms.Exclude || terms.HasDelay {
			t.Errorf("%s fits a name", text)
		}
	}
}
