package engine

import "orbweaver/virtualize"

// shelf is what the sites have on disk: two queues each in the virtualizer. The elder holds what was spilled from a full
// bench, which is older than all in the other, where ready URLs go that find no room.
type shelf struct{ virt *virtualize.Virtualizer }

const elderBit = 1 << 32 // sites' ids are less

// QueueKeys are the keys of a site's queues on disk, the elder first.
func QueueKeys(site uint64) [2]uint64 { return [2]uint64{site | elderBit, site} }

func (s shelf) len(vs *visitState) (n uint64) {
	for _, key := range QueueKeys(vs.ID()) {
		n += s.virt.Len(key)
	}
	return n
}

// append adds an item that is younger than all others of the site.
func (s shelf) append(vs *visitState, item []byte) error { return s.virt.Append(vs.ID(), item) }

// take removes up to limit items, oldest first. They are gone also when an error follows.
func (s shelf) take(vs *visitState, limit int, emit func(item []byte)) (n int, err error) {
	for _, key := range QueueKeys(vs.ID()) {
		took, err := s.virt.Take(key, limit-n, emit)
		n += took
		if err != nil || n == limit {
			return n, err
		}
	}
	return n, nil
}

// drop forgets all.
func (s shelf) drop(vs *visitState) (n uint64, err error) {
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
func (s shelf) canSpill(vs *visitState) bool { return s.virt.Len(QueueKeys(vs.ID())[0]) == 0 }

// spill puts items here that are older than all others that the site has here. All or none.
func (s shelf) spill(vs *visitState, items func(yield func(item []byte) bool)) (err error) {
	elder := QueueKeys(vs.ID())[0]
	for item := range items {
		if err = s.virt.Append(elder, item); err != nil {
			break
		}
	}
	if err != nil {
		_, dropErr := s.virt.Drop(elder)
		if dropErr != nil {
			panic("BUG: engine: a queue that was just written cannot be dropped: " + dropErr.Error())
		}
	}
	return err
}
