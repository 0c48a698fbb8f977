package membership_test

import (
	"testing"

	"github.com/hashicorp/memberlist"
)

// broadcast is a message for memberlist's queue.
type broadcast struct{ about, text string }

func (b broadcast) Name() string                          { return b.about }
func (b broadcast) Message() []byte                       { return []byte(b.text) }
func (b broadcast) Invalidates(memberlist.Broadcast) bool { return false }
func (b broadcast) Finished()                             {}

// This is why a suspected process exchanges its full state with a member (see Service.rejoin), and why a leave counts
// packets itself. If the test fails, the library has fixed the fault.
func TestQueue_losesMessages(t *testing.T) {
	q := &memberlist.TransmitLimitedQueue{RetransmitMult: 8, NumNodes: func() int { return 8 }}
	q.QueueBroadcast(broadcast{"a", "aaaa"})
	q.GetBroadcasts(0, 100) // sends a once; the queue is empty for a moment and restarts its numbers
	q.QueueBroadcast(broadcast{"b", "bbbb"})
	q.GetBroadcasts(0, 4) // room for b only: now both were sent once, and have one number and one length
	if n := q.NumQueued(); n != 1 {
		t.Errorf("%d messages are queued: the library keeps both now", n)
	}
}
