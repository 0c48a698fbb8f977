package settings

import (
	"slices"
	"strings"
	"testing"

	"orbweaver/engine/page/filter"
	"orbweaver/internal/golden"
	"orbweaver/internal/vfs/vfstest"
)

// The host rules of an operator are lines of text.
func TestGolden_hostRules(t *testing.T) {
	disk := vfstest.WithDir(t, "d")
	rules, back := new(filter.HostRules), new(filter.HostRules)
	_, err := rules.Grow(".a.test exclude", "b.test host-delay=4s")
	if err == nil {
		err = WriteHostRules(disk, "d", rules)
	}
	if err != nil {
		t.Fatal(err)
	}
	text := golden.Compare(t, "host-rules-1", "601e3da0c5bbc6142c91c26190949b0c16ccd6b58518fbfbbdc186c3c6946632",
		vfstest.ReadAll(t, disk, HostRulesName("d")))
	taken, err := back.Grow(strings.Split(strings.TrimSpace(string(text)), "\n")...)
	if err != nil || taken != 2 || !slices.Equal(back.Texts(), rules.Texts()) {
		t.Errorf("%d rules taken: %q, %v", taken, back.Texts(), err)
	}
}
