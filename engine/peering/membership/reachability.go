package membership

import (
	"time"

	"github.com/hashicorp/memberlist"

	"orbweaver/internal/notify"
)

// Results of this agent's own probes, from memberlist and from the transport.

// AckPayload implements memberlist.PingDelegate.
func (d *delegate) AckPayload() []byte { return nil }

// NotifyPingComplete implements memberlist.PingDelegate: a process answered a UDP ping.
func (d *delegate) NotifyPingComplete(n *memberlist.Node, _ time.Duration, _ []byte) {
	st := &d.s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.table.setReachable(n.Name) {
		st.viewOutdated = true
		notify.Send(d.s.wake)
	}
}

// notePingUnanswered is memberlist's DisableTcpPingsForNode. Memberlist asks after a UDP ping without an answer, just
// before it dials the process. The answer is that it shall dial.
func (d *delegate) notePingUnanswered(process string) (disable bool) {
	st := &d.s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if p := st.table.living[process]; p != nil {
		p.pingUnanswered = true
	}
	return false
}

// noteNoAnswer is called by the transport after a stream without an answer.
func (d *delegate) noteNoAnswer(process string) {
	st := &d.s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.table.setUnreachable(process, time.Now()) {
		st.viewOutdated = true
		notify.Send(d.s.wake)
	}
}
