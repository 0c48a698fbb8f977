package sites

import (
	"errors"

	"orbweaver/engine/frontier/order"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/visit"
	"orbweaver/virtualize"
)

// DiskQueues are the queues in the virtualizer: six for each site, one of URLs whose sites are delayed, and one for
// each queue of the order of visits. Urgent items (queued.IsUrgent: page requisites) have two queues of a site, and
// come first. The other items have two, too. Of each two, the first has the items that were spilled from a full
// workbench. They are older than all items of the second, which takes ready URLs that find no room in memory. The
// fifth queue has surplus requisites, which share the turns of the site with its pages. The sixth has the delayed
// URLs of engine/traps, which come last.
type DiskQueues struct {
	virt *virtualize.Virtualizer
	// SurplusIsUrgent, if not nil, says that no pages are fetched any more, with which surplus requisites would share.
	SurplusIsUrgent func() bool
}

// NewDiskQueues returns the queues in a virtualizer.
func NewDiskQueues(virt *virtualize.Virtualizer) DiskQueues { return DiskQueues{virt: virt} }

const ( // ids of sites are less
	spilledBit = 1 << 32
	delayedBit = 1 << 33
	urgentBit  = 1 << 35
	surplusBit = 1 << 36
)

// SurplusShare is the number of pages of a site for one surplus requisite, if the site has both.
const SurplusShare = 4

// OrderKey is the key of a queue of ready URLs, whole, of the order: see engine/frontier/order.
func OrderKey(queue int) uint64 { return 1<<37 | uint64(queue) }

// DelayedSitesKey is the key of the queue of URLs, whole, whose sites are delayed: see engine/traps.
const DelayedSitesKey = 1 << 34

// QueueKeys returns the keys of a site's queues in the order in which they are emptied.
func QueueKeys(site uint64) [6]uint64 {
	return [6]uint64{
		site | spilledBit | urgentBit, site | urgentBit, site | spilledBit, site, site | surplusBit, site | delayedBit,
	}
}

// The queues of QueueKeys by their class.
const (
	urgentQueues = 2 // the first
	surplusQueue = 4
	delayedQueue = 5
)

// Len returns the number of items that a site has on disk, and how many of them are urgent.
func (s DiskQueues) Len(vs *visit.State) (n, urgent uint64) {
	for i, key := range QueueKeys(vs.ID()) {
		of := s.virt.Len(key)
		n += of
		if i < urgentQueues || i == surplusQueue && s.isSurplusUrgent() {
			urgent += of
		}
	}
	return n, urgent
}

// Surplus returns the number of surplus requisites of a site on disk.
func (s DiskQueues) Surplus(vs *visit.State) uint64 { return s.virt.Len(vs.ID() | surplusBit) }

// Requisites returns the number of page requisites of a site on disk. It includes redirects of a robots.txt.
func (s DiskQueues) Requisites(vs *visit.State) (n uint64) {
	keys := QueueKeys(vs.ID())
	for _, key := range keys[:urgentQueues] {
		n += s.virt.Len(key)
	}
	return n + s.Surplus(vs)
}

func (s DiskQueues) isSurplusUrgent() bool { return s.SurplusIsUrgent != nil && s.SurplusIsUrgent() }

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

// AppendSurplus adds a page requisite that shares the turns of the site with its pages.
func (s DiskQueues) AppendSurplus(vs *visit.State, item []byte) error {
	return s.virt.Append(vs.ID()|surplusBit, item)
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

// ReadAhead says that up to limit items of each of these sites will be taken, by TakePrompt. With a large frontier it
// saves time on disks that answer many reads at once: see virtualize.ReadAhead.
func (s DiskQueues) ReadAhead(of []*visit.State, limit int) {
	keys := make([]uint64, 0, surplusQueue*len(of))
	for _, vs := range of {
		all := QueueKeys(vs.ID())
		keys = append(keys, all[:surplusQueue]...)
	}
	s.virt.ReadAhead(keys, limit)
}

// TakePrompt is take without the delayed items and without surplus requisites, unless these are urgent now.
func (s DiskQueues) TakePrompt(vs *visit.State, limit int, emit func(item []byte)) (n int, err error) {
	keys := QueueKeys(vs.ID())
	urgent, pages := keys[:urgentQueues], keys[urgentQueues:surplusQueue]
	if n, err = s.takeOf(urgent, limit, emit); err != nil || n == limit {
		return n, err
	}
	if s.isSurplusUrgent() {
		took, err := s.takeOf(keys[surplusQueue:delayedQueue], limit-n, emit)
		if n += took; err != nil || n == limit {
			return n, err
		}
	}
	took, err := s.takeOf(pages, limit-n, emit)
	return n + took, err
}

// TakeSurplus is take of the surplus requisites that go with a number of pages: one for each SurplusShare of them, and
// at least one.
func (s DiskQueues) TakeSurplus(vs *visit.State, pages int, emit func(item []byte)) (n int, err error) {
	keys := QueueKeys(vs.ID())
	return s.takeOf(keys[surplusQueue:delayedQueue], max(pages/SurplusShare, 1), emit)
}

// TakeDelayed is take of delayed items only.
func (s DiskQueues) TakeDelayed(vs *visit.State, limit int, emit func(item []byte)) (n int, err error) {
	keys := QueueKeys(vs.ID())
	return s.takeOf(keys[delayedQueue:], limit, emit)
}

// Peek passes up to most items of one of the queues of a site to f, from an ordinal on: see virtualize.Peek. The queues
// are those of QueueKeys, so 5 is that of delayed items.
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

// AppendOrdered adds a ready URL to a queue of the order.
func (s DiskQueues) AppendOrdered(queue int, item []byte) error {
	return s.virt.Append(OrderKey(queue), item)
}

// Ordered returns the number of ready URLs in a queue of the order.
func (s DiskQueues) Ordered(queue int) uint64 { return s.virt.Len(OrderKey(queue)) }

// PeekOrdered passes up to most of the ready URLs of a queue of the order to f, from an ordinal on: see
// virtualize.Peek. Safe for concurrent use.
func (s DiskQueues) PeekOrdered(queue int, from uint64, most int, f func(item []byte)) (next uint64, err error) {
	return s.virt.Peek(OrderKey(queue), from, most, f)
}

// EachOrdered yields the queues of the order that have ready URLs, and how many each has. Safe for concurrent use.
func (s DiskQueues) EachOrdered(yield func(queue int, n uint64) bool) {
	if s.virt.Total() == 0 { // as in a new crawl, which need not ask for each
		return
	}
	for queue := range order.Queues {
		if n := s.Ordered(queue); n > 0 && !yield(queue, n) {
			return
		}
	}
}

// AllOrdered returns the number of ready URLs in all queues of the order. Safe for concurrent use.
func (s DiskQueues) AllOrdered() (n uint64) {
	for _, of := range s.EachOrdered {
		n += of
	}
	return n
}

// TakeOrdered removes the oldest ready URL of a queue of the order.
func (s DiskQueues) TakeOrdered(queue int, emit func(item []byte)) (n int, err error) {
	return s.virt.Take(OrderKey(queue), 1, emit)
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
