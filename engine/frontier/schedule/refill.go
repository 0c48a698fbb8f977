package schedule

import (
	"bytes"
	"errors"
	"time"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/traps"
	"orbweaver/engine/traps/novelty"
)

// Admission takes discovered URLs: admission.Frontier.
type Admission interface {
	Add(d *admission.Scratch, url []byte, it queued.URL) admission.Refusal
}

// delayer brings items of sites back from disk to the workbench, and delays those that look like parts of a trap. A
// delayed URL waits in the last queue of its site (sites.DiskQueues) until the site has nothing else. Then it is
// fetched at the pace of the site, until engine/traps/novelty has evidence of a trap; from then on it is skipped.
type delayer struct {
	*Queues
	dead       *DeadSites
	traps      *traps.Detector
	admission  Admission // for the short forms of delayed URLs
	skips      *skipList
	flushes    Flushes
	front      *Front
	isClosing  func() bool
	wakeFeeder func()
	siteItems  int // of one site in memory, at most

	waiting []waitingSite // in the order of its times
	scratch admission.Scratch
	items   itemList
	sites   []*visit.State
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
	refillBatch  = 64             // sites that are refilled in one step
	delayedBatch = 2              // delayed URLs of a site in memory, so that URLs that are found meanwhile come soon
	delayedMost  = 64             // delayed URLs that are read in one go, if they are skipped
	delayedWait  = 2 * flushPause // longest wait for new links, while any URLs come: a flush and more
)

// areNewURLs reports whether URLs are on their way to the workbench.
func (d *delayer) areNewURLs() bool { return d.flushes.Pending() > 0 || d.Ready.Len() > 0 }

// refill moves items of sites that ran low from disk to the workbench. On a full workbench it waits until the front is
// small, and is then never put off: fetch workers wait for these items. It does not wait at the limit of pages: what is
// in memory may be pages, which are not wanted any more.
func (d *delayer) refill(now time.Time) (total int, err error) {
	limit := d.siteItems
	if d.Workbench.Memory().Full() {
		if !d.isClosing() && !d.front.isSmall(now) {
			return 0, nil
		}
		limit = siteItemsFull + 2
	}
	d.sites = d.Workbench.Memory().Refill(d.sites[:0], refillBatch)
	d.OnDisk.ReadAhead(d.sites, limit)
	for _, vs := range d.sites {
		n, err := d.takeItems(vs, limit)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// delay puts an item, whose Rest is a path, behind everything else of its site, if it looks like a part of a trap.
// After an error the item is where it was. The caller notes how many items the site has on disk.
func (d *delayer) delay(
	vs *visit.State, group novelty.Group, key []byte, it *queued.URL,
) (delayed bool, err error) {
	if d.Workbench.Site(vs).IsDead() {
		return false, nil
	}
	if it.Delayed { // by another agent, it was skipped under a stricter setting, or it is mined
		if it.Mined {
			d.traps.NoteDelayed(group, it.Rest)
		}
		return true, d.OnDisk.AppendDelayed(vs, queued.Append(nil, it))
	}
	short := d.traps.ShortURL(group, key, it.Rest, it)
	if short == nil && !d.traps.ShouldDelay(group, it.Rest, it) {
		return false, nil
	}
	late := *it
	late.Delayed = true
	if err := d.OnDisk.AppendDelayed(vs, queued.Append(nil, &late)); err != nil {
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
func (d *delayer) takeItems(vs *visit.State, limit int) (n int, err error) {
	w := d.Workbench
	d.key = w.Site(vs).AppendKey(d.key[:0])
	group := d.traps.GroupOf(d.key)
	d.items.reset()
	n, err = d.OnDisk.TakePrompt(vs, limit, d.items.add)
	urgent, failed := d.pushItems(vs, group, false)
	err = errors.Join(err, failed)
	now := time.Now()
	left, _ := d.OnDisk.Len(vs)
	surplus := d.OnDisk.Surplus(vs) > 0
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
		more, err = d.OnDisk.TakeSurplus(vs, n-urgent, d.items.add)
		_, failed = d.pushItems(vs, group, true)
		n, err = n+more, errors.Join(err, failed)
	}
	d.noteOnDisk(vs)
	return n, err
}

// pushItems moves d.items to the workbench, except those that look like parts of a trap, and returns how many of all
// are urgent. Requisites look like that only if they are surplus. d.key is the key of the site.
func (d *delayer) pushItems(vs *visit.State, group novelty.Group, areSurplus bool) (urgent int, err error) {
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
func (d *delayer) takeWaiting(now time.Time) error {
	noNewURLs := !d.areNewURLs()
	for len(d.waiting) > 0 && (noNewURLs || d.nextIn(now) <= 0) {
		d.key = append(d.key[:0], d.waiting[0].key...)
		d.waiting = d.waiting[1:]
		vs := d.Workbench.Get(d.key)
		if vs == nil { // it has died or moved, and has nothing on disk any more
			continue
		}
		if d.Workbench.Site(vs).Queued() > 0 {
			d.noteOnDisk(vs) // so that the workbench offers the site again
			continue
		}
		n, err := d.takeDelayed(vs, d.traps.GroupOf(d.key), delayedBatch)
		d.noteOnDisk(vs)
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
func (d *delayer) nextIn(now time.Time) time.Duration {
	return d.waiting[0].waitsFrom.Add(delayedWait).Sub(now)
}

// takeDelayed moves up to batch delayed items of a site to the workbench, and skips those that belong to a trap. d.key
// is the key of the site.
func (d *delayer) takeDelayed(vs *visit.State, group novelty.Group, batch int) (n int, err error) {
	for pushed := 0; pushed < batch && n < delayedMost && err == nil; {
		d.items.reset()
		took, failed := d.OnDisk.TakeDelayed(vs, batch-pushed, d.items.add)
		n, err = n+took, failed
		d.items.each(func(item []byte) bool {
			it := queued.MustDecode(item)
			why, fetch := d.traps.ReleaseDelayed(group, it.Rest)
			if !fetch {
				d.url = append(append(d.url[:0], d.key...), it.Rest...)
				it.Rest = d.url
				failed := d.skips.skip(&it, traps.RuleEndlessPart, why)
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
