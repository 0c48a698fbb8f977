package schedule

import (
	"bytes"
	"errors"
	"time"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/traps/novelty"
	"orbweaver/engine/traps/skipped"
	"orbweaver/engine/traps/traps"
)

// Admission takes discovered URLs: admission.Frontier.
type Admission interface {
	Add(d *admission.Scratch, url []byte, it queued.URL)
}

// delayedURLs delays URLs that look like parts of a trap, for the Distributor. A delayed URL waits in the third queue
// of its site (sites.DiskQueues) until the site has nothing else. Then it is fetched at the pace of the site, until
// engine/traps/novelty has evidence of a trap; from then on it is skipped.
type delayedURLs struct {
	dead       *DeadSites
	queues     sites.DiskQueues
	traps      *traps.Detector
	admission  Admission // for the short forms of delayed URLs
	skips      *skipList
	areNewURLs func() bool // URLs are on their way to the workbench
	wakeFeeder func()

	waiting []waitingSite // in the order of its times
	scratch admission.Scratch
	items   itemList
	key     []byte // of a site
	url     []byte
}

// waitingSite is a site that has had nothing but delayed items since a time. Links of its pages may be on their way.
// It is known by its key: it may leave the workbench while it waits.
type waitingSite struct {
	key       []byte
	waitsFrom time.Time
}

const (
	delayedBatch = 2              // delayed URLs of a site in memory, so that URLs that are found meanwhile come soon
	delayedMost  = 64             // delayed URLs that are read in one go, if they are skipped
	delayedWait  = 2 * flushPause // longest wait for new links, while any URLs come: a flush and more
)

// delay puts an item, whose Rest is a path, behind everything else of its site, if it looks like a part of a trap.
// After an error the item is where it was. The caller notes how many items the site has on disk.
func (d *delayedURLs) delay(
	vs *visit.State, group novelty.Group, key []byte, it *queued.URL,
) (delayed bool, err error) {
	if d.dead.Workbench.Site(vs).IsDead() {
		return false, nil
	}
	if it.Delayed { // by another agent, or it was skipped under a stricter setting
		return true, d.queues.AppendDelayed(vs, queued.Append(nil, it))
	}
	short := d.traps.ShortURL(group, key, it.Rest, it)
	if short == nil && !d.traps.ShouldDelay(group, it.Rest, it) {
		return false, nil
	}
	late := *it
	late.Delayed = true
	if err := d.queues.AppendDelayed(vs, queued.Append(nil, &late)); err != nil {
		return false, err
	}
	if short != nil {
		d.traps.NoteDelayed(group, it.Rest)
		other := *it
		other.Redirects = 0
		d.admission.Add(&d.scratch, short, other)
	}
	return true, nil
}

// takeItems moves up to limit items of a site from disk to the workbench. Items that look like parts of a trap go
// behind the others, and follow when there are no others. Surplus requisites have their share beside the pages, also if
// these are delayed.
func (d *delayedURLs) takeItems(vs *visit.State, limit int) (n int, err error) {
	w := d.dead.Workbench
	d.key = w.Site(vs).AppendKey(d.key[:0])
	group := d.traps.GroupOf(d.key)
	d.items.reset()
	n, err = d.queues.TakePrompt(vs, limit, d.items.add)
	urgent, failed := d.pushItems(vs, group, false)
	err = errors.Join(err, failed)
	now := time.Now()
	left, _ := d.queues.Len(vs)
	surplus := d.queues.Surplus(vs) > 0
	if of := w.Site(vs); n == 0 && err == nil && surplus && of.Queued() > of.Urgent() {
		return 0, nil // the last page in memory is before them. The workbench offers the site again when it is fetched
	}
	switch {
	case n > 0 || err != nil:
	case surplus:
		n, err = d.takeDelayed(vs, group, sites.SurplusShare)
	case !d.areNewURLs():
		n, err = d.takeDelayed(vs, group, delayedBatch)
	case left > 0: // SetOnDisk is left out: the workbench offers the site again when an item has come to it
		d.waiting = append(d.waiting, waitingSite{bytes.Clone(d.key), now})
		return 0, nil
	}
	if surplus && err == nil && (n == 0 || n > urgent) {
		d.items.reset()
		var more int
		more, err = d.queues.TakeSurplus(vs, n-urgent, d.items.add)
		_, failed = d.pushItems(vs, group, true)
		n, err = n+more, errors.Join(err, failed)
	}
	w.Site(vs).SetOnDisk(d.queues.Len(vs))
	return n, err
}

// pushItems moves d.items to the workbench, except those that look like parts of a trap, and returns how many of all
// are urgent. Requisites look like that only if they are surplus. d.key is the key of the site.
func (d *delayedURLs) pushItems(vs *visit.State, group novelty.Group, areSurplus bool) (urgent int, err error) {
	d.items.each(func(item []byte) bool {
		isUrgent := queued.IsUrgent(item)
		if isUrgent {
			urgent++
		}
		it := queued.MustDecode(item)
		if isUrgent && !areSurplus || !traps.MayDelay(&it) {
			d.dead.push(vs, item)
			return true
		}
		delayed, failed := d.delay(vs, group, d.key, &it)
		if !delayed {
			d.dead.push(vs, item)
		}
		err = errors.Join(err, failed)
		return true
	})
	return urgent, err
}

// takeWaiting moves delayed items of sites that have waited long enough for links.
func (d *delayedURLs) takeWaiting(now time.Time) error {
	w, noNewURLs := d.dead.Workbench, !d.areNewURLs()
	for len(d.waiting) > 0 && (noNewURLs || d.nextIn(now) <= 0) {
		d.key = append(d.key[:0], d.waiting[0].key...)
		d.waiting = d.waiting[1:]
		vs := w.Get(d.key)
		if vs == nil { // it has died or moved, and has nothing on disk any more
			continue
		}
		if w.Site(vs).Queued() > 0 {
			w.Site(vs).SetOnDisk(d.queues.Len(vs)) // so that the workbench offers the site again
			continue
		}
		n, err := d.takeDelayed(vs, d.traps.GroupOf(d.key), delayedBatch)
		w.Site(vs).SetOnDisk(d.queues.Len(vs))
		if n > 0 {
			d.wakeFeeder()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// nextIn returns when the first site has waited long enough. There must be one.
func (d *delayedURLs) nextIn(now time.Time) time.Duration {
	return d.waiting[0].waitsFrom.Add(delayedWait).Sub(now)
}

// takeDelayed moves up to batch delayed items of a site to the workbench, and skips those that belong to a trap. d.key
// is the key of the site.
func (d *delayedURLs) takeDelayed(vs *visit.State, group novelty.Group, batch int) (n int, err error) {
	for pushed := 0; pushed < batch && n < delayedMost && err == nil; {
		d.items.reset()
		took, failed := d.queues.TakeDelayed(vs, batch-pushed, d.items.add)
		n, err = n+took, failed
		d.items.each(func(item []byte) bool {
			it := queued.MustDecode(item)
			why, fetch := d.traps.ReleaseDelayed(group, it.Rest)
			if !fetch {
				d.url = append(append(d.url[:0], d.key...), it.Rest...)
				it.Rest = d.url
				failed := d.skips.skip(d.key, &it, skipped.RuleEndlessPart, why)
				fetch = failed != nil // rather than lose it
				err = errors.Join(err, failed)
			}
			if fetch {
				d.dead.push(vs, item)
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
