package workbench

// The weight of a site and an item besides the bytes: see Counts.Weight.
const (
	itemOverhead     = 8
	siteOverhead     = 96
	minItemsInMemory = 2 // a site with fewer items in memory and some on disk is refilled
)

// maxSpare is the number of unused queues and heaps that are kept for reuse.
const maxSpare = 4096

func itemWeight(n int) int64 { return int64(prefixLen(n)+n) + itemOverhead }

// queueWeight returns the weight of the items in a queue, in bytes.
func queueWeight(q *itemQueue) int64 { return int64(q.Size()) + int64(q.Count())*itemOverhead }

// itemStore changes the queues of sites and counts their items and the items in Visits. It keeps unused queues for
// reuse. A queue is passed as the field of its site, which is nil if there are no items.
type itemStore struct {
	urgentFlags byte  // see Options.UrgentFlags
	urgent      int   // urgent items in queues
	queued      int   // items in queues
	inVisits    int   // items in Visits
	bytes       int64 // weight of all items
	holders     int   // sites with items
	spare       []*itemQueue
}

// weight returns the memory of all items and of the sites that have some.
func (t *itemStore) weight() int64 { return t.bytes + int64(t.holders)*siteOverhead }

// queueOf returns the queue of a site, and makes one if it has none.
func (t *itemStore) queueOf(queue **itemQueue) *itemQueue {
	if *queue == nil {
		if n := len(t.spare); n > 0 {
			*queue, t.spare = t.spare[n-1], t.spare[:n-1]
		} else {
			*queue = new(itemQueue)
		}
	}
	return *queue
}

// add adds an item to the queue of a site with the given method of itemQueue.
func (t *itemStore) add(queue **itemQueue, item []byte, push func(q *itemQueue, item []byte, urgent bool)) {
	urgent := isUrgent(item, t.urgentFlags)
	push(t.queueOf(queue), item, urgent)
	if urgent {
		t.urgent++
	}
	t.queued++
	t.bytes += itemWeight(len(item))
}

// addLoaded adds the items of a queue that was loaded.
func (t *itemStore) addLoaded(q *itemQueue) {
	t.urgent += q.UrgentCount()
	t.queued += q.Count()
	t.bytes += queueWeight(q)
}

// popFront removes the oldest item of a queue and appends it to dst. The queue must not be empty.
func (t *itemStore) popFront(q *itemQueue, dst []byte) []byte {
	from := len(dst)
	t.urgent -= min(q.UrgentCount(), 1)
	dst = q.PopFront(dst)
	t.queued--
	t.bytes -= itemWeight(len(dst) - from)
	return dst
}

// countLeased counts n items of a queue as items of a Visit. Some of them are urgent.
func (t *itemStore) countLeased(n, urgent int) {
	t.queued -= n
	t.urgent -= urgent
	t.inVisits += n
}

// countReleased counts the items of a Visit no longer.
func (t *itemStore) countReleased(items [][]byte) {
	t.inVisits -= len(items)
	for _, item := range items {
		t.bytes -= itemWeight(len(item))
	}
}

// countHolder counts a site that has items now, or has none any more.
func (t *itemStore) countHolder(holds bool) {
	if holds {
		t.holders++
	} else {
		t.holders--
	}
}

// dropQueue empties the queue of a site, calls drop for each item if it is not nil, and returns the number of items.
func (t *itemStore) dropQueue(queue **itemQueue, drop func(item []byte)) int {
	q := *queue
	if q == nil {
		return 0
	}
	n := q.Count()
	t.queued -= n
	t.urgent -= q.UrgentCount()
	t.bytes -= queueWeight(q)
	for item := []byte(nil); drop != nil && q.Count() > 0; {
		item = q.PopFront(item[:0])
		drop(item)
	}
	*queue = nil
	return n
}

// free removes the empty queue of a site. Small queues are kept for reuse.
func (t *itemStore) free(queue **itemQueue) {
	if q := *queue; q.Room() <= 512 && len(t.spare) < maxSpare {
		q.Clear()
		t.spare = append(t.spare, q)
	}
	*queue = nil
}
