package schedule

import (
	"time"

	"orbweaver/engine/state/queued"
)

// spill moves items of sites that are not due for long, the slow and the broken, from a full workbench to disk. The one
// error is a full disk; no item is lost then.
func (e *emptier) spill(now time.Time) error {
	if !e.Workbench.Memory().Full() {
		return nil
	}
	e.sites = e.Workbench.Memory().UnloadCandidates(now.Add(spillDue), e.sites[:0], spillBatch)
	for _, vs := range e.sites {
		if !e.OnDisk.CanSpill(vs) {
			continue
		}
		e.items.bytes, e.items.ends = e.Workbench.Memory().Unload(vs, e.items.bytes[:0], e.items.ends[:0])
		var err error
		hasRedirects := e.hasRobotsRedirects()
		if !hasRedirects {
			err = e.OnDisk.Spill(vs, e.items.each)
		}
		if hasRedirects || err != nil {
			e.items.each(func(item []byte) bool { e.dead.push(vs, item); return true })
		} else {
			e.spilled.Add(int64(len(e.items.ends)))
		}
		e.noteOnDisk(vs)
		if err != nil {
			return err
		}
	}
	return nil
}

// hasRobotsRedirects reports whether a redirect of a robots.txt is among the items. A site waits for it, so it stays in
// memory.
func (e *emptier) hasRobotsRedirects() (found bool) {
	e.items.each(func(raw []byte) bool {
		it := queued.MustDecode(raw)
		found = it.RobotsOf != nil
		return !found
	})
	return found
}
