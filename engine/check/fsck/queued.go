package fsck

import (
	"github.com/zeebo/xxh3"

	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/urlx"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc"
)

// areaInFlight is the area of the URLs that were in flight at the checkpoint.
const areaInFlight = "in flight"

// queued gathers what waits: on the bench, in its sites' queues on disk, in the ready queue, and in flight.
type queued struct {
	c     *checker
	url   []byte
	urls  int64
	whole bool  // every place could be read
	err   error // of the temporary directory
}

// checkQueued reads every queued URL. Each must be known to the sieve, and none may wait twice (I1, I4); their number
// must be what the counters say (E1). It empties the bench and the ready queue in memory, and so comes last.
func (c *checker) checkQueued() error {
	c.o.Progress("queued URLs")
	q := &queued{c: c, whole: c.bench.ok && c.ready.ok && (c.urgent.ok || c.cut.Urgent == nil) && c.virt.ok}
	q.disk()
	q.bench()
	q.ready(&q.c.urgent)
	q.ready(&q.c.ready)
	q.inFlightURLs()
	c.checked("queued", q.urls, "URLs")
	(&comparison{c}).compareCounters(q.urls, q.whole)
	return q.err
}

// add looks at one item.
func (q *queued) add(p place, site, item []byte) {
	url, robots, ok := inspect.QueuedURL(q.url[:0], site, item)
	q.url = url
	if !ok {
		q.c.fault(p.area(), q.c.fileOfPlace(p), "an item that is none: %.100q", item)
		return
	}
	if robots {
		return
	}
	q.urls++
	q.note(urlx.Fingerprint(q.c.cut.HashSeed, url), p)
}

func (q *queued) note(fp xxh3.Uint128, p place) {
	if q.err == nil {
		q.err = q.c.places.add(fp, p, warc.Checkpoint{})
	}
}

// disk reads the sites' queues, and compares their lengths with what the bench believes.
func (q *queued) disk() {
	c := q.c
	queues, opened := c.virt.get()
	bench, ok := c.bench.get()
	if !opened || !ok {
		return
	}
	var total uint64
	bench.EachSite(func(s inspect.Site) bool {
		n := uint64(0)
		for _, key := range sites.QueueKeys(s.ID) {
			n += queues.Len(key)
			err := queues.Each(key, func(item []byte) bool {
				q.add(onDisk, s.Key, item)
				return true
			})
			if err != nil {
				q.whole = false // Check has told it
			}
		}
		total += n
		if n != s.OnDisk {
			c.fault("bench", c.cut.WorkbenchFile(), "%s site %s has %d URLs on disk, and the bench believes %d",
				s.State, s.Key, n, s.OnDisk)
		}
		return c.ctx.Err() == nil
	})
	whole := []uint64{sites.DelayedSitesKey}
	for queue := range order.Queues {
		whole = append(whole, sites.OrderKey(queue))
	}
	for _, key := range whole {
		total += queues.Len(key)
		err := queues.Each(key, func(item []byte) bool {
			q.add(onDisk, nil, item)
			return true
		})
		if err != nil {
			q.whole = false // Check has told it
		}
	}
	if have := queues.Total(); total != have && c.ctx.Err() == nil {
		c.fault("queues", layout.QueuesDir, "%d URLs belong to sites that are not on the bench", have-total)
	}
}

func (q *queued) bench() {
	if bench, ok := q.c.bench.get(); ok {
		bench.TakeItems(func(site, item []byte) { q.add(onBench, site, item) })
	}
}

// ready empties a ready queue.
func (q *queued) ready(from *opened[*diskq.Queue]) {
	ready, ok := from.get()
	if !ok {
		return
	}
	var item []byte
	for q.c.ctx.Err() == nil {
		next, ok, err := ready.Read(item[:0])
		if err != nil {
			q.whole = false // Check has told it
			return
		}
		if !ok {
			return
		}
		item = next
		q.add(isReady, nil, item)
	}
}

func (q *queued) inFlightURLs() {
	n, finished := int64(0), int64(0)
	err := q.c.cut.InFlight(func(site, item []byte) {
		n++
		q.add(inFlight, site, item)
	}, func(fp xxh3.Uint128) {
		finished++
		q.note(fp, isFinished)
	})
	if err != nil {
		q.whole = false
		q.c.fail(areaInFlight, q.c.cut.InFlightFile(), err)
	}
	if q.c.cut.Clean && n > 0 {
		q.c.note(areaInFlight, q.c.cut.InFlightFile(), "%d URLs in flight, and the crawl stopped in order", n)
	}
	q.c.checked(areaInFlight, n+finished, "URLs")
	(&clusterCheck{q.c}).compareFetched(finished)
}
