package fsck

import (
	"errors"
	"slices"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/outcome"
)

const (
	areaOutbox  = "outbox"
	areaFetched = "fetched"
)

// clusterCheck checks what an agent of a cluster has besides.
type clusterCheck struct{ *checker }

// checkOutbox reads the unsent and the retained messages (P1): they can be read, their items are URLs in normal form,
// and the unsent messages of a member are among the retained ones. The counters have their number as long as no agent
// was given up.
func (c *clusterCheck) checkOutbox() (err error) {
	v := c.agents
	if v == nil {
		return nil
	}
	image, err := outbox.ReadImage(c.fsys, manifest.OutboxPath(c.path(layout.FrontierDir), c.cut.Generation))
	if err != nil {
		c.fail(areaOutbox, c.cut.OutboxFile(), err)
		return nil
	}
	box, err := outbox.Open(c.fsys, outbox.Options{Dir: c.path(layout.OutboxDir)}, &v.Outbox, image)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, box.Close()) }()
	if err := box.Check(); err != nil {
		return err
	}
	for _, p := range v.Peers {
		if p != v.Self && !slices.Contains(box.Agents(), p.Instance()) {
			c.fault(areaOutbox, layout.ManifestFile, "%s was there, and has no line in the outbox (P1)", p.ID)
		}
	}
	var told, waiting int64
	for _, line := range box.Agents() {
		all, kept := c.waitingFor(box, line)
		known := box.Counts(line).Retained
		here := slices.ContainsFunc(v.Peers, func(p ownership.Agent) bool { return p.Instance() == line })
		if here && kept > known {
			c.fault(areaOutbox, layout.OutboxDir, "%d unsent URLs for %q, and %d retained ones (P1)", kept, line, known)
		}
		links, err := c.toldTo(box, line)
		if err != nil {
			return err
		}
		waiting, told = waiting+int64(all), told+links
	}
	c.checked(areaOutbox, waiting+told, "URLs")
	n := &c.cut.Counters
	least := n.Sent + n.Outcomes[outcome.HandedOver]
	if !slices.Contains(v.Peers, v.Self) {
		return nil // it leaves: the others keep its messages
	}
	if most := least + n.Outcomes[outcome.Recovered]; v.Outbox.Next == len(v.Outbox.Agents) &&
		(told < least || told > most) {
		c.fault(areaOutbox, layout.ManifestFile,
			"%d URLs went to other agents, %d pages are theirs, and they were told %d (P1)", least, most-least, told)
	}
	return nil
}

// waitingFor reads all unsent messages for an agent. It counts as kept the items that a new owner would get, too.
func (c *clusterCheck) waitingFor(box *outbox.Outbox, line string) (n, kept int) {
	n = box.Counts(line).Backlog
	for c.ctx.Err() == nil {
		batch, err := box.TakeBatch(line)
		if err != nil {
			c.fail(areaOutbox, layout.OutboxDir, err)
		}
		if batch == nil {
			break
		}
		for item, err := range outbox.Items(batch.Bytes) {
			if err != nil {
				c.fail(areaOutbox, c.cut.OutboxFile(), err)
				break
			}
			c.countLinks(line, item)
			if message.IsRetained(item) {
				kept++
			}
		}
		box.Acknowledge(batch)
	}
	return n, kept
}

// toldStep is how many items are read at a time.
const toldStep = 4096

// toldTo reads all that an agent was told, and counts the links.
func (c *clusterCheck) toldTo(box *outbox.Outbox, line string) (links int64, err error) {
	for c.ctx.Err() == nil {
		over, err := box.RemoveAgent(line, toldStep, func(item []byte) { links += c.countLinks(line, item) })
		if err != nil || over {
			return links, err
		}
	}
	return links, nil
}

// countLinks returns the number of links in an item of a message.
func (c *clusterCheck) countLinks(line string, item []byte) int64 {
	links, err := message.CountLinks(item)
	if err != nil {
		c.fault(areaOutbox, layout.OutboxDir, "for %q: %v (P1)", line, err)
	}
	return links
}

// checkFetched reads which URLs have an answer: other agents are told that they are here. There are not more than were
// counted.
func (c *clusterCheck) checkFetched() error {
	if c.agents == nil {
		return nil
	}
	o := dedup.Options{Dir: c.path(layout.FetchedDir), MemoryBytes: 1 << 20}
	m, err := dedup.Open(c.fsys, o, &c.agents.Fetched)
	if err != nil {
		return err
	}
	c.fetched.set(m)
	c.closers = append(c.closers, m)
	c.checked(areaFetched, int64(m.Len()), "URLs with an answer")
	return m.Check()
}

// compareFetched compares the fetched set with the counters. finished is the number of URLs that an earlier journal
// names as finished and that are still queued.
func (c *clusterCheck) compareFetched(finished int64) {
	fetched, ok := c.fetched.get()
	if !ok {
		return
	}
	var answers int64
	for o, n := range c.cut.Counters.Outcomes {
		if outcome.Outcome(o).Class() == outcome.ClassAnswer {
			answers += n
		}
	}
	if n, err := c.countOwn(fetched); err == nil && n > answers+finished { // Check has told an error
		c.fault(areaFetched, layout.FetchedDir, "%d URLs have an answer, by the counters %d (P2)", n, answers+finished)
	}
}

// countOwn counts the URLs that are not from the list of an agent that has left, or died while it did.
func (c *clusterCheck) countOwn(fetched *dedup.Map) (n int64, err error) {
	for from, over := int64(0), false; !over && err == nil && c.ctx.Err() == nil; {
		from, over, err = fetched.Walk(from, dedup.WalkAll, toldStep, func(key dedup.Digest) {
			if recovery.IsOwnKey(key) {
				n++
			}
		})
	}
	return n, err
}

// ownershipChanged reports whether agents have joined or left since the crawl began. Then a URL may wait twice, or wait
// although it has a record, because its host had a temporary owner or because another agent had been told of it. The
// sieve may know it by another fingerprint. So only numbers of URLs are compared.
func (c *checker) ownershipChanged() bool { return c.agents != nil && c.agents.Changed }

// isFetched wants a URL whose answer is in the archive to be among those that have one (P2): if not, another agent that
// asks is told that it is not here, and fetches it again. It may be a hop of another agent's robots.txt, though: there
// are not more of those than robots.txt files were asked for.
func (c *checker) isFetched(fp xxh3.Uint128, where string) bool {
	fetched, ok := c.fetched.get()
	if !ok {
		return true
	}
	_, known, err := fetched.Lookup(recovery.Key(fp))
	if err != nil || known { // its own Check has told an error
		return true
	}
	if c.places.foreign++; c.places.foreign > c.cut.Counters.RobotsFetched-int64(c.places.robots) {
		c.fault(areaFetched, layout.FetchedDir,
			"the answer of the URL with the fingerprint %016x%016x is in %s, and it does not know it (P2)", fp.Hi,
			fp.Lo, where)
	}
	return false
}
