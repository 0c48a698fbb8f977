package workbench

import (
	"bytes"
	"hash/maphash"
	"math"
)

// siteTable holds the records of all sites. It finds them by number and by key, and counts them by state.
type siteTable[S any] struct {
	seed    maphash.Seed
	handles slab[VisitState[S]] // by id
	records slab[site[S]]       // by id
	byKey   index
	keys    keys
	states  [stateCount]int
}

// at returns the record with a number.
func (t *siteTable[S]) at(id uint32) *site[S] { return t.records.at(id) }

// of returns the record of a VisitState.
func (t *siteTable[S]) of(vs *VisitState[S]) *site[S] { return t.records.at(vs.id) }

// has reports whether a site has this number.
func (t *siteTable[S]) has(id uint32) bool { return t.records.has(id) && t.records.at(id).id != 0 }

// hash returns the hash of a key for find and add.
func (t *siteTable[S]) hash(key []byte) uint64 { return maphash.Bytes(t.seed, key) }

// find returns the id of the site with this key, or 0.
func (t *siteTable[S]) find(hash uint64, key []byte) uint32 {
	return t.byKey.find(hash, func(id uint32) bool { return bytes.Equal(t.keyOf(t.records.at(id)), key) })
}

// use is find, and protects the site from the next Evict that examines it.
func (t *siteTable[S]) use(hash uint64, key []byte) *VisitState[S] {
	id := t.find(hash, key)
	if id == 0 {
		return nil
	}
	t.records.at(id).flags |= flagRecentlyUsed
	return t.handles.at(id)
}

// keyOf returns the key of a site. It is valid until the site is removed.
func (t *siteTable[S]) keyOf(s *site[S]) []byte { return t.keys.get(s.key, int(s.keyLen)) }

// add creates the site with the given free id. It is unresolved.
func (t *siteTable[S]) add(hash uint64, id uint32, key []byte) *site[S] {
	t.records.reach(id)
	t.handles.reach(id)
	t.handles.at(id).id = id
	s := t.records.at(id)
	s.id, s.due, s.flags = id, noDue, flagRecentlyUsed
	s.key, s.keyLen = t.keys.add(key), uint16(min(len(key), math.MaxUint16))
	t.byKey.add(hash, id)
	t.states[Unresolved]++
	return s
}

// remove removes a site that was counted in the given state. Its number is free, but not yet released.
func (t *siteTable[S]) remove(s *site[S], counted State) {
	t.states[counted]--
	t.byKey.remove(t.hash(t.keyOf(s)), s.id)
	t.keys.drop(s.key)
	t.handles.at(s.id).id = 0
	*s = site[S]{}
}

// countChange counts a site in another state.
func (t *siteTable[S]) countChange(before, now State) {
	t.states[before]--
	t.states[now]++
}

// count returns the number of sites.
func (t *siteTable[S]) count() (sites int) {
	for _, n := range t.states {
		sites += n
	}
	return sites
}

// collectFree releases the numbers that have no site, after a load.
func (t *siteTable[S]) collectFree() {
	for k := len(t.records.chunks) - 1; k >= 0; k-- {
		for i := chunkLen - 1; t.records.chunks[k] != nil && i >= 0; i-- {
			if id := uint32(k*chunkLen + i + 1); id <= t.records.last && t.records.at(id).id == 0 {
				t.records.release(id)
			}
		}
	}
}
