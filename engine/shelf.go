package engine

import (
	"errors"

	"orbweaver/engine/visit"
	"orbweaver/virtualize"
)

// shelf is what the sites have on disk: three queues each in the virtualizer. The first holds what was spilled from a
// full bench, which is older than all in the second, where ready URLs go that find no room. The third holds delayed
// URLs (see delays.go), which come after all others.
type shelf struct{ virt *virtualize.Virtualizer }

const ( // sites' ids are less
	spilledBit = 1 << 32
	delayedBit = 1 << 33
)

// LateSitesKey is the key of the queue of items, with their whole URLs, whose sites are to become known later: see
// distributor.placeLateSite.
const LateSitesKey = 1 << 34

// QueueKeys are the keys of a site's queues on disk, in the order in which they are emptied.
func QueueKeys(site uint64) [3]uint64 { return [3]uint64{site | spilledBit, site, site | delayedBit} }

func (s shelf) len(vs *visit.State) (n uint64) {
	for _, key := range QueueKeys(vs.ID()) {
		n += s.virt.Len(key)
	}
	return n
}

// append adds an item that is younger than all others of the site.
func (s shelf) append(vs *visit.State, item []byte) error { return s.virt.Append(vs.ID(), item) }

// delay adds an item behind all others of the site, now and later.
func (s shelf) delay(vs *visit.State, item []byte) error {
	return s.virt.Append(vs.ID()|delayedBit, item)
}

// take removes up to limit items, those that were not delayed first. They are gone also when an error follows.
func (s shelf) take(vs *visit.State, limit int, emit func(item []byte)) (n int, err error) {
	keys := QueueKeys(vs.ID())
	return s.takeOf(keys[:], limit, emit)
}

// takePrompt is take of items that were not delayed.
func (s shelf) takePrompt(vs *visit.State, limit int, emit func(item []byte)) (n int, err error) {
	keys := QueueKeys(vs.ID())
	return s.takeOf(keys[:2], limit, emit)
}

// takeDelayed is take of items that were delayed.
func (s shelf) takeDelayed(vs *visit.State, limit int, emit func(item []byte)) (n int, err error) {
	keys := QueueKeys(vs.ID())
	return s.takeOf(keys[2:], limit, emit)
}

// delaySite adds an item of a site that is to become known later.
func (s shelf) delaySite(item []byte) error { return s.virt.Append(LateSitesKey, item) }

// lateSites is how many of these there are.
func (s shelf) lateSites() uint64 { return s.virt.Len(LateSitesKey) }

// takeSite takes the oldest of these.
func (s shelf) takeSite(emit func(item []byte)) (n int, err error) {
	return s.virt.Take(LateSitesKey, 1, emit)
}

func (s shelf) takeOf(keys []uint64, limit int, emit func(item []byte)) (n int, err error) {
	for _, key := range keys {
		took, err := s.virt.Take(key, limit-n, emit)
		n += took
		if err != nil || n == limit {
			return n, err
		}
	}
	return n, nil
}

// drop forgets all.
func (s shelf) drop(vs *visit.State) (n uint64, err error) {
	for _, key := range QueueKeys(vs.ID()) {
		dropped, err := s.virt.Drop(key)
		n += dropped
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// canSpill says that what the site has in memory is older than all it has here, but what spill would put here.
func (s shelf) canSpill(vs *visit.State) bool { return s.virt.Len(QueueKeys(vs.ID())[0]) == 0 }

// spill puts items here that are older than all others that the site has here. All or none.
func (s shelf) spill(vs *visit.State, items func(yield func(item []byte) bool)) (err error) {
	elder := QueueKeys(vs.ID())[0]
	for item := range items {
		if err = s.virt.Append(elder, item); err != nil {
			break
		}
	}
	if err != nil {
		_, dropErr := s.virt.Drop(elder)
		if errors.Is(dropErr, virtualize.ErrMapped) { // some items may be in both places: the crawl must not go on with that
			return dropErr
		}
		if dropErr != nil {
			panic("BUG: engine: a queue that was just written cannot be dropped: " + dropErr.Error())
		}
	}
	return err
}
