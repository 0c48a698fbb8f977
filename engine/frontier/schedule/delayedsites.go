package schedule

import (
	"errors"
	"time"

	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/settings"
)

// delayedSites gives URLs their turn whose sites are delayed, because the sites of their domain look like a trap.
type delayedSites struct {
	queues   sites.DiskQueues
	live     *settings.Live
	placer   *placer
	nextTurn time.Time
}

// delayedSitePace is the time between two such sites, in IP delays. Each needs its robots.txt and a page, so at least
// half of the time of their address is left to other sites.
const delayedSitePace = 4

// placeNext places the next URLs, if their turn has come, and reports whether it has: those of sites that are admitted
// already, and one of a site that is new. Only a new site uses up the turn.
func (d *delayedSites) placeNext(now time.Time, front *Front) (placed bool, err error) {
	if now.Before(d.nextTurn) || d.queues.DelayedSites() == 0 || !front.isSmall(now) {
		return false, nil
	}
	if err := d.placer.placeHeld(); err != nil {
		return false, err
	}
	for range distributeBatch {
		isNewSite, one, err := d.placeOldest(true)
		if !one || err != nil {
			return placed, err
		}
		placed = true
		if isNewSite {
			d.nextTurn = now.Add(delayedSitePace * d.live.Policy().IPDelay)
			break
		}
	}
	return placed, nil
}

// placeOldest places the oldest URL of a delayed site. waited says that its site may be admitted now.
func (d *delayedSites) placeOldest(waited bool) (isNewSite, placed bool, err error) {
	var item []byte
	n, err := d.queues.TakeOfDelayedSite(func(b []byte) { item = append(item, b...) })
	if n == 0 {
		return false, false, err
	}
	isNewSite, failed := d.placer.placeOrHold(item, waited)
	if failed != nil {
		return false, false, errors.Join(err, failed)
	}
	return isNewSite, true, err
}
