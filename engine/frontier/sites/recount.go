package sites

import (
	"fmt"
	"net/netip"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/state/site"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// recount counts all known sites in the quotas, first those of the cold store, then those of the workbench. The crawl
// goes on meanwhile, and sites move, but each of them is counted once. Table.mu guards it, and is held for one piece of
// 64 KiB of sites at a time. The zero value counts nothing.
type recount struct {
	isActive   bool
	walk       *cold.Walk
	isColdDone bool
	counted    map[uint64]struct{} // hashes of the keys of sites on the workbench that are counted already

	views []workbench.View[site.State]
	keys  []byte
	from  uint64 // the number of the next site of the workbench
}

// CountKnown counts all known sites in the quotas, and learns the addresses of groups of hosts from them. At a resume
// these are the sites of a checkpoint: entries of the journal are counted as they are replayed. It may be called in a
// running crawl. A page that is stored meanwhile may be counted twice then, and so may the host of an address.
//
// It needs no step, since it moves no site. It holds the table for a millisecond or two at a time, and never while it
// reads from disk.
func (t *Table) CountKnown() error {
	if !t.Quotas.AreSet() && !t.Groups.AreSet() {
		return nil
	}
	c, err := t.beginRecount()
	if err != nil {
		return fmt.Errorf("sites: count of known sites: %w", err)
	}
	defer c.end(t)
	for more := true; more; {
		if more, err = c.walk.Read(); err == nil {
			err = c.countCold(t, more)
		}
		if err != nil {
			return fmt.Errorf("sites: count of known sites: %w", err)
		}
	}
	for c.countLoaded(t) {
	}
	return nil
}

func (t *Table) beginRecount() (*recount, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	walk, err := cold.BeginWalk(t.Cold)
	if err != nil {
		return nil, err
	}
	t.recount = recount{isActive: true, walk: walk, counted: map[uint64]struct{}{}, from: 1}
	return &t.recount, nil
}

func (c *recount) end(t *Table) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.walk.End()
	t.recount = recount{}
}

// countCold counts the piece of the cold store that was read; isRead is false at the end. Sites that are evicted before
// that are counted when they leave.
func (c *recount) countCold(t *Table, isRead bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !isRead {
		c.isColdDone = true
		return nil
	}
	return c.walk.Each(func(key, form []byte) error { return count(t, key, form) })
}

// countLoaded counts some sites of the workbench, and reports whether there may be more. No site leaves it meanwhile.
func (c *recount) countLoaded(t *Table) (more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	c.views, c.keys, c.from = t.Workbench.Listing().Views(c.from, c.views[:0], c.keys[:0])
	for i := range c.views {
		v := &c.views[i]
		if _, ok := c.counted[xxh3.Hash(v.Key)]; !ok {
			countSite(t, v.Key, v.IP.Addr, v.Data.Addrs(), v.Data.Stored)
		}
	}
	return c.from != 0
}

// hasPassed reports whether a site, if it is in the cold store, is counted already.
func (c *recount) hasPassed(key []byte) bool { return c.isActive && !c.walk.WillPass(key) }

// markCounted notes that a site comes to the workbench that is counted already.
func (c *recount) markCounted(key []byte) {
	if c.isActive {
		c.counted[xxh3.Hash(key)] = struct{}{}
	}
}

// mayEvict reports whether sites may leave the workbench.
func (c *recount) mayEvict() bool { return !c.isColdDone }

// countEvicted counts a site that leaves the workbench.
func (c *recount) countEvicted(t *Table, key, form []byte) error {
	if _, ok := c.counted[xxh3.Hash(key)]; ok {
		delete(c.counted, xxh3.Hash(key)) // the cold store tells it from now on
		return nil
	}
	return count(t, key, form)
}

// count counts a site with the form that the cold store has.
func count(t *Table, key, form []byte) error {
	addr, s, err := workbench.ReadForm(form, func(b []byte) (site.State, error) { return site.Decode(b, t.Rules) })
	if err != nil {
		return fmt.Errorf("host %.200q: %w", key, err)
	}
	countSite(t, key, addr, s.Addrs(), s.Stored)
	return nil
}

func countSite(t *Table, key []byte, place netip.Addr, addrs site.Addrs, stored int32) {
	terms := t.Live.Hosts.Terms(key)
	t.Quotas.AddKnownSite(key, t.Groups.Restore(&terms, addrs.Current(place), place), stored)
}
