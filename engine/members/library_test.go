package members_test

import (
	"testing"

	"github.com/hashicorp/memberlist"
)

// news is a message for memberlist's queue.
type news struct{ about, text string }

func (n news) Name() string                          { return n.about }
func (n news) Message() []byte                       { return []byte(n.text) }
func (n news) Invalidates(memberlist.Broadcast) bool { return false }
func (n news) Finished()                             {}

// TestTheQueueLosesMessages is why a refutation is told in person, too (see seek). When it fails, the library has been mended.
func TestTheQueueLosesMessages(t *testing.T) {
	q := &memberlist.TransmitLimitedQueue{RetransmitMult: 8, NumNodes: func() int { return 8 }}
	q.QueueBroadcast(news{"a", "aaaa"})
	q.GetBroadcasts(0, 100) // a has been sent once; the queue was empty for a moment, and numbers begin anew
	q.QueueBroadcast(news{"b", "bbbb"})
	q.GetBroadcasts(0, 4) // room for b alone: now both have been sent once, and have one number and one length
	if n := q.NumQueued(); n != 1 {
		t.Errorf("%d messages wait: the library keeps both now", n)
	}
}
