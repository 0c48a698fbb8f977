package schedule

import (
	"sync/atomic"
	"time"

	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/visit"
)

// spiller moves items of sites that are not due for long, the slow and the broken, from a full workbench to disk.
type spiller struct {
	dead   *DeadSites
	queues sites.DiskQueues
	items  itemList
	sites  []*visit.State
	count  atomic.Int64 // items that were moved
}

const (
	spillDue   = time.Minute // a site that is not due for so long spills
	spillBatch = 64          // sites that spill in one step
)

// step spills a batch of sites, if the workbench is full. The one error is a full disk; no item is lost then.
func (s *spiller) step(now time.Time) error {
	w := s.dead.Workbench
	if !w.Memory().Full() {
		return nil
	}
	s.sites = w.Memory().UnloadCandidates(now.Add(spillDue), s.sites[:0], spillBatch)
	for _, vs := range s.sites {
		if !s.queues.CanSpill(vs) {
			continue
		}
		s.items.bytes, s.items.ends = w.Memory().Unload(vs, s.items.bytes[:0], s.items.ends[:0])
		var err error
		hasRedirects := s.hasRobotsRedirects()
		if !hasRedirects {
			err = s.queues.Spill(vs, s.items.each)
		}
		if hasRedirects || err != nil {
			s.items.each(func(item []byte) bool { s.dead.push(vs, item); return true })
		}
		w.Site(vs).SetOnDisk(s.queues.Len(vs))
		if err != nil {
			return err
		}
		if !hasRedirects {
			s.count.Add(int64(len(s.items.ends)))
		}
	}
	return nil
}

// hasRobotsRedirects reports whether a redirect of a robots.txt is among the items. A site waits for it, so it stays in
// memory.
func (s *spiller) hasRobotsRedirects() (found bool) {
	s.items.each(func(raw []byte) bool {
		it := queued.MustDecode(raw)
		found = it.RobotsOf != nil
		return !found
	})
	return found
}
