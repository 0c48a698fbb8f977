package inspect

import (
	"fmt"

	"orbweaver/engine/durable/checkpoint"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/workbench"
)

// Workbench is the workbench of a checkpoint, in memory.
type Workbench struct {
	sites  *visit.Workbench
	decode func(b []byte) (site.State, error)
}

// Site is what the workbench knows of one site.
type Site struct {
	ID     uint64
	Key    []byte // scheme://authority; borrowed
	State  string
	OnDisk uint64 // items in the site's queue on disk, by the count of the workbench
}

// LoadSites loads the sites with the given keys, and those that share an address with them. Equal rules are shared
// through rules.
func (c *Checkpoint) LoadSites(keys [][]byte, rules *site.RulesPool) (*visit.Workbench, error) {
	return checkpoint.LoadSites(c.fsys, c.dir, c.Bench, keys, rules)
}

// Workbench loads the workbench. It takes as much memory as that of the crawl.
func (c *Checkpoint) Workbench() (*Workbench, error) {
	rules := site.NewRulesPool(0)
	b, err := checkpoint.LoadWorkbench(c.fsys, c.dir, c.Bench, workbench.Options{}, rules)
	if err != nil {
		return nil, err
	}
	return &Workbench{b, func(b []byte) (site.State, error) { return site.Decode(b, rules) }}, nil
}

// Check says which promises of the workbench are broken.
func (w *Workbench) Check() error { return w.sites.Check() }

// Len is the number of sites.
func (w *Workbench) Len() int { return w.sites.Counts().Sites }

// CheckCold says what is wrong with a site of the cold store: it is on the workbench too, or cannot be loaded there.
func (w *Workbench) CheckCold(key, form []byte) error {
	if w.sites.Get(key) != nil {
		return fmt.Errorf("inspect: host %.200q is on the workbench, and in the store of cold hosts", key)
	}
	if err := workbench.CheckForm(form, w.decode); err != nil {
		return fmt.Errorf("inspect: host %.200q of the store of cold hosts: %w", key, err)
	}
	return nil
}

// EachSite calls f for every site in order of creation, until f returns false.
func (w *Workbench) EachSite(f func(Site) bool) {
	w.sites.Listing().Each(func(vs *visit.State, state workbench.State) bool {
		s := w.sites.Site(vs)
		return f(Site{ID: vs.ID(), Key: s.AppendKey(nil), State: state.String(), OnDisk: s.OnDisk()})
	})
}

// TakeItems removes every item from the workbench and calls f for it. f borrows both.
func (w *Workbench) TakeItems(f func(site, item []byte)) {
	w.sites.Listing().Each(func(vs *visit.State, _ workbench.State) bool {
		key := w.sites.Site(vs).AppendKey(nil)
		w.sites.Kill(vs, func(item []byte) { f(key, item) })
		return true
	})
}
