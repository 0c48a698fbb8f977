package fsck

import (
	"cmp"
	"slices"

	"github.com/zeebo/xxh3"

	"orbweaver/engine"
	"orbweaver/engine/urlx"
)

// queued gathers what waits: on the bench, in its sites' queues on disk, in the ready queue, and in flight.
type queued struct {
	c      *checker
	mask   uint64 // a fingerprint is in the sample if these bits of it are zero
	sample []fingerprint
	url    []byte
	urls   int64
	whole  bool // every place could be read
}

// fingerprint is that of a queued URL, and where it was met.
type fingerprint struct {
	xxh3.Uint128
	place place
}

type place uint8

const (
	onBench place = iota
	onDisk
	isReady
	inFlight
)

func (p place) area() string { return [...]string{"bench", "queues", "ready", "aloft"}[p] }

func (p place) file(c *engine.Inspection) string {
	switch p {
	case onBench:
		return c.BenchFile()
	case onDisk:
		return engine.QueuesDir
	case isReady:
		return engine.ReadyDir
	default:
		return c.AloftFile()
	}
}

// checkQueued reads every queued URL. Each must be known to the sieve, and none may wait twice (I1, I4); their number must be
// what the counters say (E1). It empties the bench and the ready queue in memory, and so comes last.
func (c *checker) checkQueued() {
	if c.ctx.Err() != nil {
		return
	}
	c.o.Progress("queued URLs")
	q := &queued{c: c, whole: c.bench != nil && c.ready != nil && c.virt != nil}
	for n := c.cut.Counters.Admitted - c.cut.Counters.Finished(); n > int64(c.o.SampleMax); n /= 2 {
		q.mask = q.mask<<1 | 1
	}
	q.disk()
	q.bench()
	q.ready()
	q.aloft()
	c.checked("queued", q.urls, "URLs")
	c.compareCounters(q.urls, q.whole)
	q.compare()
}

// add looks at one item.
func (q *queued) add(p place, site, item []byte) {
	url, robots, ok := engine.QueuedURL(q.url[:0], site, item)
	q.url = url
	if !ok {
		q.c.fault(p.area(), p.file(q.c.cut), "an item that is none: %.100q", item)
		return
	}
	if robots {
		return
	}
	q.urls++
	if fp := urlx.Fingerprint(q.c.cut.HashSeed, url); fp.Lo&q.mask == 0 {
		q.sample = append(q.sample, fingerprint{fp, p})
	}
}

// disk reads the sites' queues, and compares their lengths with what the bench believes.
func (q *queued) disk() {
	c := q.c
	if c.virt == nil || c.bench == nil {
		return
	}
	var total uint64
	c.bench.EachSite(func(s engine.SiteView) bool {
		n := uint64(0)
		for _, key := range engine.QueueKeys(s.ID) {
			n += c.virt.Len(key)
		}
		total += n
		if n != s.OnDisk {
			c.fault("bench", c.cut.BenchFile(), "%s site %s has %d URLs on disk, and the bench believes %d", s.State, s.Key, n, s.OnDisk)
		}
		for _, key := range engine.QueueKeys(s.ID) {
			err := c.virt.Each(key, func(item []byte) bool {
				q.add(onDisk, s.Key, item)
				return true
			})
			if err != nil {
				q.whole = false // Check has told it
			}
		}
		return c.ctx.Err() == nil
	})
	if have := c.virt.Total(); total != have && c.ctx.Err() == nil {
		c.fault("queues", engine.QueuesDir, "%d URLs belong to sites that are not on the bench", have-total)
	}
}

func (q *queued) bench() {
	if q.c.bench != nil {
		q.c.bench.TakeItems(func(site, item []byte) { q.add(onBench, site, item) })
	}
}

func (q *queued) ready() {
	if q.c.ready == nil {
		return
	}
	var item []byte
	for q.c.ctx.Err() == nil {
		next, ok, err := q.c.ready.Read(item[:0])
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

func (q *queued) aloft() {
	const area = "aloft"
	n := int64(0)
	redone, err := q.c.cut.Aloft(func(site, item []byte) {
		n++
		q.add(inFlight, site, item)
	})
	if err != nil {
		q.whole = false
		q.c.fail(area, q.c.cut.AloftFile(), err)
	}
	if q.c.cut.Clean && n > 0 {
		q.c.note(area, q.c.cut.AloftFile(), "%d URLs in flight, and the crawl stopped in order", n)
	}
	q.c.checked(area, n+int64(redone), "URLs")
}

// compare looks for URLs that wait twice, and for those that the sieve does not know. In order of the fingerprints, so
// that the sieve's files are read from front to back.
func (q *queued) compare() {
	c := q.c
	slices.SortFunc(q.sample, func(a, b fingerprint) int {
		return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo))
	})
	for i := range q.sample {
		fp := &q.sample[i]
		if i > 0 && q.sample[i-1].Uint128 == fp.Uint128 {
			c.fault(fp.place.area(), fp.place.file(c.cut), "the URL with the fingerprint %016x%016x waits here and in %s (I1)",
				fp.Hi, fp.Lo, q.sample[i-1].place.file(c.cut))
		}
		if c.sieve == nil || c.ctx.Err() != nil {
			continue
		}
		if known, err := c.sieve.Contains(fp.Uint128); err == nil && !known {
			c.fault(fp.place.area(), fp.place.file(c.cut), "the URL with the fingerprint %016x%016x waits here, and the sieve does not know it (I4)",
				fp.Hi, fp.Lo)
		}
	}
}
