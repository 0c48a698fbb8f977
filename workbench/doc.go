// Package workbench holds all sites of a crawl and says which may be visited now: a priority queue of priority queues of
// FIFO queues. Politeness lives here, as structure and not as a check: a site or an IP that is not due, or that somebody
// is visiting, cannot come out.
//
// What it is not: it knows no DNS, files, robots.txt or HTTP, starts no goroutine, reads no clock (now comes in as an
// argument) and blocks on nothing but its own short mutex. What a site is to the engine it carries as an opaque S. How
// long delays are is not its business: a Release brings the new due times.
//
// The picture:
//
//	outer heap, by max(IP due, first site due)
//	   |
//	 entry (one IP) --- heap of its Waiting sites, by site due
//	   |                   |
//	   |                VisitState --- ring of items, oldest first     --Acquire-->  Visit: site, IP, up to K items
//	 IP due                                                            <--Release--  unused items, retries, due times
//
//	          Place                    Push                Acquire
//	newborn ---------> idle  ------------------> waiting ---------> leased
//	 |  ^ ^             ^ ^                        ^ ^               | | |
//	 |  | |             | +---- none left ---------+-|-- Release ----+ | |
//	 |  | +-------------|--------------------------- | -- Newborn -----+ |
//	 |  | DueDeferred   +---- Unpark, parked --------+<-- Park ----------+
//	 v  |
//	deferred             dead: Kill, at once or at Release; Revive makes it a newborn
//
//	idle, dead ---- Evict ---> not here ---- Admit ---> idle, dead
//
// Something can be fetched now if and only if the head of the outer heap is due: NextDue. Equal due times go by the
// number of the site, so sites never visited come in the order in which they were found, while none is evicted. Due times never go back, except by Hasten. They are compared
// by the monotonic clock where now has one.
//
// In memory a site is a record of fixed size in a chunk that never moves, known by its number; keys, entries, heaps and the
// engine's Sites are reached by 32 bits each. Who is not here has nothing but the number: a VisitState is no more, and all
// questions go to the bench. An item is a uvarint of its length and its bytes, in a ring per site.
//
// The bytes. A snapshot is one whole image, and images of what was changed since the one before. An image is
//
//	"OWBENCH\x03"  frame*          frame:  length (4, little endian)  xxh3 of payload (8)  payload (1 B to 1 MiB)
//
// and the payloads, joined, are records of uvarints (u), zigzag varints (v), and byte strings with a length (s):
//
//	'H'  wall time in Unix ns from which due times count (v)  largest id (u)  last lease (u)       first, if whole
//	'C'  stamp of the image before (u), then as 'H'                                                 first, if changes
//	'G'  id (u)                                                 evicted: the number is free
//	'I'  address (s, 4 or 16)  due                              without one: the address is forgotten
//	'I'  address (s, 4 or 16)  2  nanoseconds (v)  note (u)     with one, and the engine's note, if that is not 0
//	'S'  id (u)  key (s)  whereabouts (1)  parked (1)  [address (s) | until, a due]  due  on disk (u)  Site (s)
//	     number of items (u)  ring (s)
//	'E'  number of 'S' (u)  of sites (u)                                                            last
//	due: 0, or 1 and nanoseconds since the wall time in 'H' (v)
//
// A stamp is a hash of all checksums of an image, which for changes hold the stamp before: images that do not belong
// together are told from those that do. Of a site the youngest record counts. In an image of changes all 'G' come before all 'S'.
//
// The form of an evicted site is version (1)  whereabouts (1)  flags (1)  [address (s)]  Site, without a length.
//
// The promises:
//
//   - W1: an entry is on the bench (the outer heap) if and only if it is not leased and has a VisitState that is Waiting: with
//     items, and not parked.
//   - W2: at most one Visit per IP is out.
//   - W3: no Visit is handed out before both its site and its IP are due.
//   - W4: items of a site leave in the order they came, but for PushFront; what a Visit gives back leaves first again.
//   - W5: the weight is the sum of what is held (Weight says how), and zero when no items are.
//
// Due times outlive everything: a dead site keeps its own, and an IP that has lost its last site keeps its entry until the
// due time has passed. A cut is the bench at one moment, written while the bench goes on. What was changed since the last
// cut is a list, not a search. If an image is not completed the next one is whole; so it is when the wall clock has
// stepped by more than a second, since due times are kept as wall time.
//
// Who owns what: the bench owns everything, the items and the key in a Visit included. What Evict gives away it forgets: that it is kept, and
// that nobody holds a VisitState of it, is the caller's business. Push borrows. A Visit
// carries a copy of the Site, which is its holder's, and which Release puts in the place of the bench's; otherwise the
// bench's lock guards it (Unpark, WithSite).
//
// What it costs: O(log) per Visit, O(1) per item; no allocation per item and none per Visit once warm. At ten million
// hosts, four to an IP and in no order that a cache could guess, most of a Visit is waiting for memory, so Acquire takes
// sixteen IPs at once and reads ahead for all of them, and so do Expect for Releases and Load for sites. A known site without
// items takes 152 bytes, the engine's Site of 40, its key, its index entries and its share of the IP included: `orbweaver bench
// workbench` measures it. When memory is short (Crowded), sites that have nothing to do can leave (Evict) and come back (Admit).
// A cut stands still for microseconds, whatever the bench holds, and an image of changes costs
// what has changed.
package workbench
