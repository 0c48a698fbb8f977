package crawl

import (
	"strings"
	"testing"

	"orbweaver/engine"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/peering/ownership"
	"orbweaver/internal/urlx"
)

// Agents compare the settings without which they would fetch different pages or fetch too soon, and budgets by their
// content.
func TestSharedSettings(t *testing.T) {
	budgets := func(lines string) order.Budgets {
		b, err := order.ReadBudgets("file", strings.NewReader(lines))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	text := func(change func(c *engine.Config)) string {
		cfg := engine.Polite()
		change(&cfg)
		return sharedSettings(&cfg)
	}
	for want, change := range map[string]func(c *engine.Config){
		"":                      func(*engine.Config) {},
		" --assign rendezvous":  func(c *engine.Config) { c.Cluster.Assign = ownership.Rendezvous },
		" --normal-form sorted": func(c *engine.Config) { c.Admission.NormalForm = urlx.Sorted },
		" --visit bottom-up":    func(c *engine.Config) { c.Order.Visit.Mode = order.ModeBottomUp },
		" --score #faa31c69":    func(c *engine.Config) { c.Filters.Score = "depth" },
		" --mine ancestors,siblings": func(c *engine.Config) {
			c.Mining.Mine = []string{"siblings", "ancestors", "siblings"}
		},
		" --mine-most 5":    func(c *engine.Config) { c.Mining.MineMost = 5 },
		" --ipv6-prefix 56": func(c *engine.Config) { c.Limits.IPv6Prefix = 56 },
		" --quorum true":    func(c *engine.Config) { c.Cluster.Quorum = true },
	} {
		if got := text(change); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
	files := map[string]bool{text(func(*engine.Config) {}): true}
	for _, lines := range []string{"a.test 1\nb.test 2", "# of June\nb.test 2.0\na.test 1\n", "a.test 2\nb.test 1"} {
		files[text(func(c *engine.Config) { c.Order.Budgets = budgets(lines) })] = true
	}
	if len(files) != 3 || !files[""] {
		t.Errorf("%v: want two files with content, and none", files)
	}
}
