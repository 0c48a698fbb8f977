// Package workbench holds all sites of a crawl and decides which site may be visited now. It is the workbench of BUbiNG
// (Boldi, Marino, Santini and Vigna, "BUbiNG: Massive Crawling for the Masses"): a priority queue of IP addresses, each
// a priority queue of sites, each a FIFO queue of items. The structure itself enforces politeness: Acquire cannot
// return a site if the site or its IP address is not due or is in use.
//
// The package knows nothing about DNS, files, robots.txt or HTTP. It starts no goroutine and reads no clock: callers
// pass now. It blocks only on its own mutex, which is held for short times. The engine's data about a site, the
// site data, is an opaque value of type S. The engine also decides the delays: each Release sets new due times.
//
// The methods of Workbench move sites between the states below. The others are in groups: Site for one site, Listing
// for all sites, DueTimes, Memory and Snapshot.
//
// # Structure
//
//	outer heap, by max(IP due, first site due)
//	   |
//	 entry (one IP) --- heap of its Waiting sites, by site due
//	   |                   |
//	   |                VisitState --- ring of items, oldest first     --Acquire-->  Visit: site, IP, up to K items
//	 IP due                                                            <--Release--  unused items, retries, due times
//
// # States of a site
//
//	            Place                    Push                Acquire
//	unresolved ---------> idle  ------------------> waiting ---------> leased
//	 |  ^ ^                ^ ^                        ^ ^               | | |
//	 |  | |                | +---- no items left -----+-|-- Release ----+ | |
//	 |  | +----------------|--------------------------- | - Unresolved ---+ |
//	 |  | DueDeferred      +---- Unpark, parked --------+<-- Park ----------+
//	 v  |
//	deferred             dead: Kill, at once or at Release; Revive makes the site unresolved
//
//	idle, dead ---- Evict ---> not in the workbench ---- Admit ---> idle, dead
//
// A site can be fetched now if and only if the first entry of the outer heap is due: see DueTimes. Equal due times are
// ordered by the number of the site. So sites without earlier visits come in the order of their discovery, as long as
// no site is evicted. Only Hasten moves a due time back. Due times are compared by the monotonic clock if now has a
// monotonic reading.
//
// # Memory
//
// A site is a record of fixed size with a number, in a chunk that never moves. Keys, entries and heaps are found by
// 32-bit references. A VisitState contains only the number of the site; all questions go to the workbench. An item is
// stored as a uvarint of its length and its bytes, in one ring per site.
//
// # Format of a snapshot
//
// A chain is a full snapshot followed by incremental snapshots. Each incremental snapshot contains what changed since
// the one before it. A snapshot is
//
//	"OWBENCH\x03"  frame*          frame:  length (4, little endian)  xxh3 of payload (8)  payload (1 B to 1 MiB)
//
// The joined payloads are records of uvarints (u), zigzag varints (v), and byte strings with a length (s):
//
//	'H'  wall time in Unix ns, the base of due times (v)  largest id (u)  last lease (u)        first, if full
//	'C'  chain hash of the snapshot before (u), then as 'H'                                     first, if incremental
//	'G'  id (u)                                                 evicted: the number is free
//	'I'  address (s, 4 or 16)  due                              due 0: the address has no entry any more
//	'I'  address (s, 4 or 16)  2  nanoseconds (v)  note (u)     a due time with the engine's note, if that is not 0
//	'S'  id (u)  key (s)  placement (1)  parked (1)  [address (s) | until, a due]  due  on disk (u)  site data (s)
//	     number of items (u)  ring (s)
//	'E'  number of 'S' (u)  of sites (u)                                                        last
//	due: 0, or 1 and nanoseconds since the wall time in 'H' (v)
//
// The chain hash of a snapshot is a hash of the checksums of all its frames. In an incremental snapshot, the first
// frame contains the chain hash of the snapshot before it. So Load detects snapshots that do not belong together. The
// last record of a site in a chain is valid. In an incremental snapshot all 'G' precede all 'S'.
//
// The form of an evicted site is: version (1) placement (1) flags (1) [address (s)] site data, without a length.
//
// # Promises
//
//   - W1: an entry is on the workbench (in the outer heap) if and only if it is not leased and has a VisitState that is
//     Waiting: with items and not parked.
//   - W2: at most one Visit per IP is out.
//   - W3: Acquire returns no Visit before its site and its IP are due.
//   - W4: items of a site leave in the order in which they were pushed, except after PushFront. Items that a Release
//     returns leave first. Urgent items (Options.UrgentFlags) leave before all others; W4 holds for each class.
//   - W5: the weight is the sum of all items in memory (see Counts.Weight). Without items it is zero.
//
// A dead site keeps its due time. An IP without sites keeps its entry until its due time has passed.
//
// # Snapshots
//
// A snapshot is the state of the workbench at one moment, written while the workbench is in use. The workbench keeps a
// list of the changes since the last snapshot, so nothing is searched. After an incomplete snapshot the next one is
// full. It is also full after the wall clock has stepped by more than a second, because snapshots contain wall times.
//
// # Ownership
//
// The workbench owns everything, including the items and the key in a Visit. Push borrows the item. A Visit carries a
// copy of the site data, which the holder may change and which Release stores. At other times the lock of the workbench
// guards the site data: see Site and Unpark. Evict removes a site completely. The caller must store the form and must
// not use a VisitState of an evicted site.
//
// # Costs
//
// A Visit costs O(log), an item O(1). There is no allocation per item, and none per Visit after warm-up. With ten
// million hosts, four per IP in random order, a Visit mostly waits for memory. Therefore Acquire takes sixteen IPs
// together and reads their data ahead; Prefetch does this for Releases, and Load for sites. A known site without items
// takes 152 bytes. This includes site data of 40 bytes, the key, the index entries and its share of the IP;
// `orbweaver-bench workbench` measures it. If memory is short (see Memory), Evict removes idle sites and Admit restores
// them. Taking a snapshot holds the lock for microseconds, whatever the size of the workbench. Writing an incremental
// snapshot costs time in proportion to the changes.
package workbench
