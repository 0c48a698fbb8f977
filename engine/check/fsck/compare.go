package fsck

import (
	"orbweaver/engine/state/layout"
	"orbweaver/internal/outcome"
)

// comparison compares the counters of the checkpoint with the archive and the queues.
type comparison struct{ *checker }

// compareArchive holds the archive against counters, map of payloads and journal.
func (c *comparison) compareArchive(t *tally, j journaled) {
	if c.ctx.Err() != nil {
		return
	}
	const area, file = "counters", layout.ManifestFile
	if t.damaged.Load() {
		c.note(area, file, "not compared with the archive, since that is damaged")
		return
	}
	if t.removed.count > 0 {
		c.note(area, file, "not compared with the archive, since not all of its files are here")
		return
	}
	if !t.reached {
		c.fault(areaArchive, layout.ArchiveDir, "no record ends where the checkpoint does, at %d of file %05d",
			t.cut.Length, t.cut.Serial)
	}
	if payloads, ok := c.dedup.get(); ok && t.matched != payloads.Len() {
		c.fault("seen", layout.SeenDir, "%d of its %d digests lead to no record of the archive",
			payloads.Len()-t.matched, payloads.Len())
	}
	n := &c.cut.Counters
	foreign := c.foreignHops()
	if t.unclaimed > n.Unclaimed+int64(c.places.robots)+int64(len(c.hops))+foreign {
		c.fault("seen", layout.SeenDir, "it lacks the payloads of %d records, and %d could not be noted", t.unclaimed,
			n.Unclaimed)
	}
	if t.elsewhere > 0 {
		c.note(
			areaArchive, layout.ArchiveDir,
			"%d revisits refer to records of other archives (--dedup-from, --dedup-agents): keep those", t.elsewhere,
		)
	}
	if t.revisits != n.RevisitsStored {
		c.fault(area, file, "%d pages were stored as revisits, and the archive has %d", n.RevisitsStored, t.revisits)
	}
	if t.unchanged != n.PagesUnchanged {
		c.fault(area, file, "%d pages were stored as unchanged, and the archive has %d", n.PagesUnchanged, t.unchanged)
	}
	// A robots.txt is no page, nor is what its redirects lead to, nor an answer that was not good enough and asked for
	// again; a link to a robots.txt makes it one.
	if least, most := t.pages-t.robotsMoved*robotsHops-foreign-n.Retries, t.pages+t.robots; n.PagesStored < least ||
		n.PagesStored > most {
		c.fault(area, file, "%d pages were stored, and the archive has %d, %d robots.txt not included", n.PagesStored,
			t.pages, t.robots)
	}
	c.compareStatuses(t)
	c.checked(area, 1, "checkpoint")
	c.compareBehind(t, j)
}

// compareStatuses holds the statuses of the records against those that were counted: of each there may be fewer, if a
// store filter refused some, and never more. Of 2xx it is known how many have no record. Earlier versions counted only
// the pages among them.
func (c *comparison) compareStatuses(t *tally) {
	const area, file = "counters", layout.ManifestFile
	n := &c.cut.Counters
	var counted, stored int64
	for code := 100; code < len(t.statuses); code++ {
		if t.statuses[code] > n.Statuses[code] {
			c.fault(area, file, "%d responses with status %d were counted, and the archive has %d", n.Statuses[code],
				code, t.statuses[code])
		}
		if code/100 == 2 {
			counted, stored = counted+n.Statuses[code], stored+t.statuses[code]
		}
	}
	switch missing := counted - stored - n.PagesNotStored - n.Unrecorded; {
	case missing < 0 || missing > n.Retries+n.RobotsFetched:
		c.fault(area, file,
			"%d responses with status 2xx were counted and %d pages not stored, and the archive has %d", counted,
			n.PagesNotStored, stored)
	case missing > 0 && stored > 0:
		c.note(
			area,
			file,
			"%d responses with status 2xx have no record, and none is a page: they are requests for the root page of a "+
				"failing site, which are never archived, or what the store filter refused (notStored in crawl.log)",
			missing,
		)
	}
}

// foreignHops is how many answers may be to what a robots.txt led to whose redirect is in the archive of another agent.
// A hop is counted as a robots.txt that was asked for.
func (c *comparison) foreignHops() int64 {
	if c.agents == nil {
		return 0
	}
	return max(c.cut.Counters.RobotsFetched-int64(c.places.robots), 0)
}

// robotsHops is how many redirects of a robots.txt are followed.
const robotsHops = 5

// compareBehind looks at what lies behind the checkpoint: it counts as far as the journal names it.
func (c *comparison) compareBehind(t *tally, j journaled) {
	if t.capturesBehind > j.records {
		c.note(areaArchive, layout.ArchiveDir,
			"%d captures that the journal does not name lie between those that it names", t.capturesBehind-j.records)
	}
	for _, r := range t.behindRevisit {
		if !t.behindIDs[r.to] {
			c.fault(areaArchive, r.file, "at %d: the revisit names %s, and there is no such response", r.offset, r.to)
		}
	}
}

// compareCounters holds the counters against what is queued (E1). queued is the number of URLs that are waiting
// somewhere.
func (c *comparison) compareCounters(queued int64, complete bool) {
	const area, file = "counters", layout.ManifestFile
	n := &c.cut.Counters
	if s, ok := c.sieve.get(); ok {
		pending, frozen := int64(s.Pending()), int64(0)
		if c.cut.Sieve.FrozenStored {
			frozen = int64(c.cut.Sieve.FrozenMask.Count)
		}
		if n.Sieved != pending+n.Known+n.URLsAdmitted {
			c.fault(area, file,
				"%d URLs were handed to the sieve, but %d are pending, %d were known and %d admitted (E1)", n.Sieved,
				pending, n.Known, n.URLsAdmitted)
		}
		if keys := int64(s.Len()); keys != n.URLsAdmitted+frozen {
			c.fault(area, file, "%d URLs were admitted, and the sieve knows %d", n.URLsAdmitted+frozen, keys)
		}
	}
	if complete && n.URLsAdmitted != n.Finished()+queued {
		c.fault(area, file, "%d URLs were admitted, but %d have an outcome and %d are queued (E1)", n.URLsAdmitted,
			n.Finished(), queued)
	}
	drops := n.DroppedSyntax + n.DroppedScheme + n.DroppedLong + n.DroppedScope + n.DroppedDepth + n.DroppedFollow +
		n.DroppedNear + n.DroppedHook + n.DroppedLoop + n.DroppedCache
	if n.URLsFound != drops+n.Sieved+n.Sent {
		c.fault(area, file, "%d URLs were found, but %d were dropped, %d handed to the sieve and %d to other agents",
			n.URLsFound, drops, n.Sieved, n.Sent)
	}
	for _, o := range []outcome.Outcome{outcome.None, outcome.Cancelled} {
		if n.Outcomes[o] != 0 {
			c.fault(area, file, "%d URLs have the outcome %q, which is none", n.Outcomes[o], o)
		}
	}
	if n.Retries > n.Attempts {
		c.fault(area, file, "%d retries of %d attempts", n.Retries, n.Attempts)
	}
}
