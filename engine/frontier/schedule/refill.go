package schedule

import "time"

// fill moves items to the workbench: from disk, from the list of skipped URLs, from the ready queue.
func (d *Distributor) fill(now time.Time) (n int, err error) {
	if n, err = d.refill(now); err != nil {
		return 0, err
	}
	again, err := d.placeSkipped(now)
	if err != nil {
		return 0, err
	}
	placed, err := d.placeReady(now)
	if err == nil {
		err = d.delayed.takeWaiting(now)
	}
	if err == nil {
		err = d.placeDelayedSite(now)
	}
	return n + again + placed, err
}

// refill moves items of sites that ran low from disk to the workbench. On a full workbench it waits until the front is
// small, and is then never put off: fetch workers wait for these items. It does not wait at the limit of pages: what is
// in memory may be pages, which are not wanted any more.
func (d *Distributor) refill(now time.Time) (total int, err error) {
	limit := d.options.SiteItems
	if d.Workbench.Memory().Full() {
		if !d.end.IsClosing() && !d.front.isSmall(now) {
			return 0, nil
		}
		limit = siteItemsFull + 2
	}
	d.sites = d.Workbench.Memory().Refill(d.sites[:0], refillBatch)
	for _, vs := range d.sites {
		n, err := d.delayed.takeItems(vs, limit)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}
