// Package engine is one agent: the composition root that opens every room, hands each loop the few things it uses, and
// closes the house in order. It holds no algorithms: those are in the rooms.
//
// It is not a library of parts: Open, Run and Close are its way in, Report and the verbs in operate.go its way to an
// operator.
//
// The picture, and the three roads of URLs, Visits and Pages, are in ARCHITECTURE.md. Who is where:
//
//	frontier.go     the door: every URL passes Frontier.Add
//	filters.go      what decides at the five points; explain.go tells what it would say, without a packet
//	flushloop.go    sieve -> ready queue
//	hosts.go        the one door to a host by its key: on the bench, or in the store of cold hosts
//	distributor.go  ready queue -> bench or virtualizer, on demand; when a crawl is over
//	resolveloop.go  newborn site -> address (namerecords.go keeps what name servers said)
//	feedloop.go     bench -> todo queue
//	donequeue.go    Visits on their way back; returner.go folds them into the bench
//	fetchloop.go    Visit -> exchange -> Page; robotsvisit.go the same for robots.txt
//	parseloop.go    Page -> links, records, journal (records.go, metadata.go, linkfinder.go)
//	ledger.go       what has been done and can be proved: archive, journal, page digests, counters
//	posting.go      attempts on their way into it, written together when they meet
//	checkpoint.go   the cut and its manifest; restore.go, replay.go and recall.go the way back
//	turnover.go     a finished crawl begins again; holdings.go what the archive has from before, for the worker who asks
//	                whether it still holds (lister.go, validators.go)
//	peers.go        the other agents: peering.go is the seam, presence.go who is there, circle.go who is responsible, carrier.go and
//	                letter.go what goes between them, recovery.go whether somebody has a page, calm.go when all are done; quorum.go whether this agent
//	                may fetch (ballot.go asks, majority.go counts, wing.go ends exchanges); leases.go and clerk.go whether it
//	                may ask an address, and keepers.go whom; history.go what was so a moment ago;
//	                moving.go and sitemove.go a host on its way, leaving.go, departure.go and left.go an agent
//	rebuild.go      a lost frontier made anew from the archive alone (rebuildrecords.go, rebuildlinks.go, capture.go)
//	run.go          every goroutine, started and joined
//
// Promises:
//
//	E1: conservation. URLs handed to the sieve = still in its buckets + known + admitted, and admitted = finished, by
//	    outcome + queued (ready queue, virtualizer, bench) + in flight (Visits, Pages). The counters change only
//	    under the shared side of the cut, in the same step that moves the URL.
//
// Bytes: journal.go draws the journal's entry, item.go what travels with a URL, manifest.go says what the manifest holds.
//
// Nobody waits while holding the cut's lock, but for a read of what is on disk: a block of a queue, a cold host. Lock order is cut, then
// commit or hosts, then whatever a room locks inside.
//
// A rebuild trusts the archive and nothing else. What it cannot know: how far a page is from a seed (links of stored pages
// count as one link away), how many redirects led to it, how often a URL was tried without an answer, what was refused, and
// seeds that were never fetched. So it forgets no URL that a stored page leads to, and may ask again for what failed.
//
// What it costs: a page takes two shared holds of the cut, one write to the archive and one of 63 bytes to the journal; pages that
// meet at the commit lock share them.
package engine
