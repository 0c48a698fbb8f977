package schedule

import (
	"errors"
	"time"

	"orbweaver/engine/novelty"
	"orbweaver/engine/outcome"
	"orbweaver/engine/queued"
	"orbweaver/engine/skipped"
	"orbweaver/engine/traps"
	"orbweaver/engine/visit"
)

// What looks like a trap is delayed: it waits in the third queue of its site (sites.DiskQueues) until the site has
// nothing else. Then it is fetched at the site's own pace, until engine/novelty has evidence of a trap; from then on it
// goes to the list of what is left out (engine/skipped).

const (
	delayedBatch = 2  // delayed URLs of a site in memory, so that what is found meanwhile soon has its turn
	delayedMost  = 64 // delayed URLs that are looked at in one go, if they are left out
)

// delay puts an item, whose Rest is a path, behind everything else of its site, if it looks like a part of a trap, and
// says so. After an error it is where it was. The caller notes how many items the site has on disk.
func (d *Distributor) delay(
	vs *visit.State, group novelty.Group, key []byte, it *queued.URL,
) (delayed bool, err error) {
	if d.Workbench.IsDead(vs) {
		return false, nil
	}
	if it.Delayed { // it comes from another agent, or from the list of what was left out
		return true, d.Queues.AppendDelayed(vs, queued.Append(nil, it))
	}
	short := d.Traps.ShortURL(group, key, it.Rest, it)
	if short == nil && !d.Traps.ShouldDelay(group, it.Rest, it) {
		return false, nil
	}
	late := *it
	late.Delayed = true
	if err := d.Queues.AppendDelayed(vs, queued.Append(nil, &late)); err != nil {
		return false, err
	}
	if short != nil {
		d.Traps.NoteDelayed(group, it.Rest)
		other := *it
		other.Redirects = 0
		d.Frontier.Add(&d.door, short, other)
	}
	return true, nil
}

// takeWatched moves up to limit items of a site from disk to the bench, and those that look like a part of a trap
// behind the others. Delayed ones follow when there are no others.
func (d *Distributor) takeWatched(vs *visit.State, limit int) (n int, err error) {
	d.key = d.Workbench.AppendKey(d.key[:0], vs)
	group := d.Traps.GroupOf(d.key)
	d.items, d.ends = d.items[:0], d.ends[:0]
	n, err = d.Queues.TakePrompt(vs, limit, d.lift)
	d.eachSpilled(func(item []byte) bool {
		it := queued.MustDecode(item)
		if !traps.MayDelay(&it) {
			d.push(vs, item)
			return true
		}
		delayed, failed := d.delay(vs, group, d.key, &it)
		if !delayed {
			d.push(vs, item)
		}
		err = errors.Join(err, failed)
		return true
	})
	now := time.Now()
	switch {
	case n > 0 || err != nil:
	case d.SievePending() == 0 && d.Ready.Len() == 0:
		n, err = d.takeLate(vs, group)
	case d.Queues.Len(vs) > 0:
		d.late = append(d.late, lateSite{vs, now})
		return 0, nil // and it is not offered again before something has come to it
	}
	d.Workbench.SetOnDisk(vs, d.Queues.Len(vs))
	return n, err
}

// lateSite is a site that has nothing but delayed items since a moment. Links that its pages have are perhaps on their
// way to it.
type lateSite struct {
	vs    *visit.State
	since time.Time
}

// lateRest is how long such a site waits for new links at most, while there are any of whatever site: a flush of the
// sieve and more.
const lateRest = 2 * flushPause

// takeLateSites moves delayed items of sites to the bench that had nothing else for a while, and places the next late
// site.
func (d *Distributor) takeLateSites(now time.Time) error {
	calm := d.SievePending() == 0 && d.Ready.Len() == 0
	for len(d.late) > 0 && (calm || !now.Before(d.late[0].since.Add(lateRest))) {
		vs := d.late[0].vs
		d.late = d.late[1:]
		if d.Workbench.Queued(vs) > 0 {
			d.Workbench.SetOnDisk(vs, d.Queues.Len(vs)) // so that it is offered again
			continue
		}
		d.key = d.Workbench.AppendKey(d.key[:0], vs)
		n, err := d.takeLate(vs, d.Traps.GroupOf(d.key))
		d.Workbench.SetOnDisk(vs, d.Queues.Len(vs))
		if n > 0 {
			d.WakeFeeder()
		}
		if err != nil {
			return err
		}
	}
	return d.placeLateSite(now)
}

// lateSitePace is the time between two sites of domains whose sites look like a trap, in IP delays: each needs its
// robots.txt and a page, so others at the same address have half of its time at least.
const lateSitePace = 4

// placeLateSite gives the next site its turn that has waited since the sites of its domain look like a trap.
func (d *Distributor) placeLateSite(now time.Time) error {
	if now.Before(d.nextLate) || d.Queues.DelayedSites() == 0 || !d.frontSmall(now) {
		return nil
	}
	if err := d.placeHeld(); err != nil {
		return err
	}
	d.nextLate = now.Add(lateSitePace * d.Live.Policy().IPDelay)
	var item []byte
	n, err := d.Queues.TakeOfDelayedSite(func(b []byte) { item = append(item, b...) })
	if n == 0 {
		return err
	}
	d.lateTurn = true
	defer func() { d.lateTurn = false }()
	if failed := d.place(item); failed != nil {
		d.Held = item
		return errors.Join(err, failed)
	}
	d.WakeFeeder()
	return err
}

func (d *Distributor) lift(item []byte) {
	d.items = append(d.items, item...)
	d.ends = append(d.ends, len(d.items))
}

// takeLate moves some delayed items of a site to the bench, and lists those that belong to a trap.
func (d *Distributor) takeLate(vs *visit.State, group novelty.Group) (n int, err error) {
	for pushed := 0; pushed < delayedBatch && n < delayedMost && err == nil; {
		d.items, d.ends = d.items[:0], d.ends[:0]
		took, failed := d.Queues.TakeDelayed(vs, delayedBatch-pushed, d.lift)
		n, err = n+took, failed
		d.eachSpilled(func(item []byte) bool {
			it := queued.MustDecode(item)
			why, fetch := d.Traps.ReleaseDelayed(group, it.Rest)
			if !fetch {
				d.whole = append(append(d.whole[:0], d.key...), it.Rest...)
				it.Rest = d.whole
				failed := d.skip(d.key, &it, skipped.RuleEndlessPart, why)
				fetch = failed != nil // rather than lose it
				err = errors.Join(err, failed)
			}
			if fetch {
				d.push(vs, item)
				pushed++
			}
			return true
		})
		if took == 0 {
			break
		}
	}
	return n, err
}

// skip leaves a URL out, the Rest of its item: it gets its outcome, and its place in the list. What an earlier run did
// keeps its outcome.
func (d *Distributor) skip(site []byte, it *queued.URL, rule skipped.Rule, why novelty.Evidence) error {
	if _, o := d.Dead.Finished.OutcomeOf(d.Dead.HashSeed, it.Rest); o != outcome.None {
		done := *it
		done.Rest = it.Rest[len(site):]
		d.Dead.DropUnlessFinished(site, queued.Append(nil, &done), o)
		return nil
	}
	if err := d.Skipped.Add(it, rule, why); err != nil {
		return err
	}
	d.Journal.Count.Finish(outcome.Novelty, 1)
	d.Journal.Count.Skipped[rule].Add(1)
	d.Log.Refusal(it.Rest, it, outcome.Novelty, 0)
	return nil
}

// readmit queues URLs again that were left out under a stricter setting, and returns how many.
func (d *Distributor) readmit(now time.Time) (n int, err error) {
	if d.Skipped == nil || d.Skipped.Again == 0 {
		return 0, nil
	}
	if err := d.placeHeld(); err != nil || !d.frontSmall(now) {
		return 0, err
	}
	for ; n < distributeBatch && d.Skipped.Again > 0; n++ {
		item, rule, err := d.Skipped.Next()
		if err != nil {
			return n, err
		}
		d.Journal.Count.Finish(outcome.Novelty, -1)
		d.Journal.Count.Skipped[rule].Add(-1)
		if err := d.place(item); err != nil {
			d.Held = append([]byte(nil), item...)
			return n, err
		}
	}
	return n, nil
}
