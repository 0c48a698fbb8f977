package sites

import (
	"errors"

	"orbweaver/engine/queued"
	"orbweaver/engine/visit"
	"orbweaver/virtualize"
)

// DiskQueues are the queues of the sites on disk: five for each site in the virtualizer, and one of URLs whose sites
// are delayed. Urgent items (queued.IsUrgent: page requisites) have two queues, and come first. The other items have
// two, too. Of each two, the first has the items that were spilled from a full workbench. They are older than all items
// of the second, which takes ready URLs that find no room in memory. The fifth queue has the delayed URLs of
// engine/traps, which come after all others.
type DiskQueues struct{ virt *virtualize.Virtualizer }

// NewDiskQueues returns the queues in a virtualizer.
func NewDiskQueues(virt *virtualize.Virtualizer) DiskQueues { return DiskQueues{virt} }

const ( // ids of sites are less
	spilledBit = 1 << 32
	delayedBit = 1 << 33
	urgentBit  = 1 << 35
)

// DelayedSitesKey is the key of the queue of URLs, whole, whose sites are delayed: see engine/traps.
const DelayedSitesKey = 1 << 34

// QueueKeys returns the keys of a site's queues in the order in which they are emptied.
func QueueKeys(site uint64) [5]uint64 {
	return [5]uint64{site | spilledBit | urgentBit, site | urgentBit, site | spilledBit, site, site | delayedBit}
}

const (
	urgentQueues = 2 // of QueueKeys: the first
	promptQueues = 4 // of QueueKeys: all but that of delayed items
)

// Len returns the number of items that a site has on disk, and how many of them are urgent.
func (s DiskQueues) Len(vs *visit.State) (n, urgent uint64) {
	for i, key := range QueueKeys(vs.ID()) {
		if n += s.virt.Len(key); i < urgentQueues {
			urgent = n
		}
	}
	return n, urgent
}

// bitOf is the bit of the queues that an item belongs to.
func bitOf(item []byte) uint64 {
	if queued.IsUrgent(item) {
		return urgentBit
	}
	return 0
}

// Append adds an item behind all items of its class that are not delayed.
func (s DiskQueues) Append(vs *visit.State, item []byte) error {
	return s.virt.Append(vs.ID()|bitOf(item), item)
}

// AppendDelayed adds a delayed item.
func (s DiskQueues) AppendDelayed(vs *visit.State, item []byte) error {
	return s.virt.Append(vs.ID()|delayedBit, item)
}

// Take removes up to limit items, delayed ones last. Items that were emitted are removed, also before an error.
func (s DiskQueues) Take(vs *visit.State, limit int, emit func(item []byte)) (n int, err error) {
	keys := QueueKeys(vs.ID())
	return s.takeOf(keys[:], limit, emit)
}

// TakePrompt is take without the delayed items.
func (s DiskQueues) TakePrompt(vs *visit.State, limit int, emit func(item []byte)) (n int, err error) {
	keys := QueueKeys(vs.ID())
	return s.takeOf(keys[:promptQueues], limit, emit)
}

// TakeDelayed is take of delayed items only.
func (s DiskQueues) TakeDelayed(vs *visit.State, limit int, emit func(item []byte)) (n int, err error) {
	keys := QueueKeys(vs.ID())
	return s.takeOf(keys[promptQueues:], limit, emit)
}

// Peek passes up to most items of one of the queues of a site to f, from an ordinal on: see virtualize.Peek. The queues
// are those of QueueKeys, so 4 is that of delayed items.
func (s DiskQueues) Peek(
	vs *visit.State, queue int, from uint64, most int, f func(item []byte),
) (next uint64, err error) {
	return s.virt.Peek(QueueKeys(vs.ID())[queue], from, most, f)
}

// AppendOfDelayedSite adds a URL of a delayed site.
func (s DiskQueues) AppendOfDelayedSite(item []byte) error {
	return s.virt.Append(DelayedSitesKey, item)
}

// DelayedSites returns the number of URLs of delayed sites.
func (s DiskQueues) DelayedSites() uint64 { return s.virt.Len(DelayedSitesKey) }

// TakeOfDelayedSite removes the oldest URL of a delayed site.
func (s DiskQueues) TakeOfDelayedSite(emit func(item []byte)) (n int, err error) {
	return s.virt.Take(DelayedSitesKey, 1, emit)
}

func (s DiskQueues) takeOf(keys []uint64, limit int, emit func(item []byte)) (n int, err error) {
	for _, key := range keys {
		took, err := s.virt.Take(key, limit-n, emit)
		n += took
		if err != nil || n == limit {
			return n, err
		}
	}
	return n, nil
}

// CanSpill reports whether a site may spill: what it spilled before is used up.
func (s DiskQueues) CanSpill(vs *visit.State) bool {
	return s.virt.Len(vs.ID()|spilledBit) == 0 && s.virt.Len(vs.ID()|spilledBit|urgentBit) == 0
}

// Spill adds items of the workbench, which are older than all others of the site: all of them, or none after an error.
func (s DiskQueues) Spill(vs *visit.State, items func(yield func(item []byte) bool)) (err error) {
	spilled := vs.ID() | spilledBit
	for item := range items {
		if err = s.virt.Append(spilled|bitOf(item), item); err != nil {
			break
		}
	}
	if err != nil {
		_, dropErr := s.virt.Drop(spilled)
		_, dropUrgentErr := s.virt.Drop(spilled | urgentBit)
		dropErr = errors.Join(dropErr, dropUrgentErr)
		if errors.Is(dropErr, virtualize.ErrMapped) { // items may be both on disk and in memory: the crawl must stop
			return dropErr
		}
		if dropErr != nil {
			panic("BUG: sites: a queue that was just written cannot be dropped: " + dropErr.Error())
		}
	}
	return err
}
