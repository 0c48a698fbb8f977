package membership

import (
	"errors"
	"net/netip"
	"time"

	"github.com/hashicorp/memberlist"

	"orbweaver/internal/notify"
)

// delegate is what memberlist and the transport call. Memberlist holds its own lock during some calls. So a method
// changes the state and wakes the maintainer, and calls nothing of memberlist.
type delegate struct{ s *Service }

// NodeMeta implements memberlist.Delegate.
func (d *delegate) NodeMeta(int) []byte {
	st := &d.s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.table.self.append(nil)
}

// NotifyMsg implements memberlist.Delegate: a message of another process has arrived.
func (d *delegate) NotifyMsg(data []byte) {
	st := &d.s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	m, err := parseMessage(data)
	if err != nil {
		st.stats.Malformed++
		return
	}
	self := &st.table.self
	switch {
	case m.kind == livenessResponse:
		if m.process == st.conflict.process && m.nonce == st.conflict.nonce && m.process != "" {
			st.conflict.answered = true
			notify.Send(d.s.wake)
		}
	case m.process != self.name: // for an earlier process at this address
	case m.kind == livenessRequest:
		d.queueMessage(outgoingMessage{
			to: m.replyTo, message: message{kind: livenessResponse, nonce: m.nonce, process: m.process},
		})
	case m.kind == incarnationEnded:
		if m.incarnation >= self.incarnation {
			st.table.ended[self.agent.ID] = max(st.table.ended[self.agent.ID], m.incarnation)
			notify.Send(d.s.wake)
		}
	case m.kind == suspicion:
		notify.Send(d.s.suspected)
	}
}

// GetBroadcasts implements memberlist.Delegate. It has no broadcasts. Memberlist calls it for each gossip packet, so
// the calls count the packets.
func (d *delegate) GetBroadcasts(int, int) [][]byte {
	st := &d.s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	st.packets++
	notify.Send(d.s.sent)
	return nil
}

// LocalState implements memberlist.Delegate: a full exchange of state carries the ended incarnations.
func (d *delegate) LocalState(bool) []byte {
	st := &d.s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	return appendEnded(nil, st.table.ended)
}

// MergeRemoteState implements memberlist.Delegate.
func (d *delegate) MergeRemoteState(data []byte, _ bool) {
	st := &d.s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := parseEnded(data, st.table.addEnded); err != nil {
		st.stats.Malformed++
	}
	st.endedKnown = true
	notify.Send(d.s.wake)
}

// NotifyAlive implements memberlist.AliveDelegate. An error makes memberlist ignore the process.
func (d *delegate) NotifyAlive(n *memberlist.Node) error {
	st := &d.s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if n.Name == st.table.self.name {
		return nil
	}
	m, err := d.metadataOf(n)
	if err != nil {
		return err
	}
	if err := st.table.admit(n.Name, &m); err != nil {
		d.refuse(n.Name, &m, err)
		return err
	}
	delete(st.table.suspicions, n.Name)
	return nil
}

// NotifyMerge implements memberlist.MergeDelegate. An error refuses a full exchange with agents of another crawl, so
// that Join of such an agent fails.
func (d *delegate) NotifyMerge(nodes []*memberlist.Node) error {
	st := &d.s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, n := range nodes {
		m, err := d.metadataOf(n)
		if err != nil || m.agent.Crawl == st.table.self.agent.Crawl {
			continue
		}
		err = st.table.admit(n.Name, &m)
		d.refuse(n.Name, &m, err)
		return err
	}
	return nil
}

// NotifyJoin implements memberlist.EventDelegate.
func (d *delegate) NotifyJoin(n *memberlist.Node) { d.putProcess(n) }

// NotifyUpdate implements memberlist.EventDelegate.
func (d *delegate) NotifyUpdate(n *memberlist.Node) { d.putProcess(n) }

func (d *delegate) putProcess(n *memberlist.Node) {
	st := &d.s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if n.Name == st.table.self.name {
		return
	}
	m, err := d.metadataOf(n)
	if err != nil {
		return // NotifyAlive has refused it
	}
	if st.table.put(n.Name, m, time.Now()) {
		d.onChange()
	}
}

// NotifyLeave implements memberlist.EventDelegate: a process is dead or left.
func (d *delegate) NotifyLeave(n *memberlist.Node) {
	st := &d.s.state
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.table.remove(n.Name, time.Now(), d.s.o.Timings.deadRetention()) {
		d.onChange()
	}
}

// onChange follows a change of the living processes. Memberlist reads SuspicionMult only under the lock that it holds
// during this call, so it may be changed here.
func (d *delegate) onChange() {
	st := &d.s.state
	if d.s.config != nil {
		d.s.config.SuspicionMult = d.s.o.Timings.suspicionMult(st.table.memberlistSize())
	}
	st.viewOutdated = true
	notify.Send(d.s.wake)
	notify.Send(d.s.sent)
}

// metadataOf parses the metadata of a process and adds the address, which memberlist carries.
func (d *delegate) metadataOf(n *memberlist.Node) (metadata, error) {
	st := &d.s.state
	m, err := parseMetadata(n.Meta)
	if err != nil {
		st.stats.Malformed++
		return metadata{}, err
	}
	addr, ok := netip.AddrFromSlice(n.Addr)
	if !ok || n.Port == 0 {
		st.stats.Malformed++
		return metadata{}, errMetadata
	}
	m.agent.GossipAddr = netip.AddrPortFrom(addr.Unmap(), n.Port)
	return m, nil
}

// refuse counts a refused process (M5), and logs the first one of each kind.
func (d *delegate) refuse(name string, m *metadata, reason error) {
	st, log := &d.s.state, d.s.o.Log
	switch {
	case errors.Is(reason, errTableFull):
		if st.stats.TableFull++; st.stats.TableFull == 1 {
			log.Warn("too many agents: further ones are refused; check which machines have the gossip key",
				"agent", m.agent.ID, "address", m.agent.GossipAddr, "limit", maxProcesses)
		}
	case errors.Is(reason, errEndedIncarnation):
		st.stats.EndedIncarnation++
		d.reportEnded(name, m)
	default:
		if st.stats.OtherCrawl++; st.stats.OtherCrawl == 1 {
			log.Warn("refused an agent of another crawl; check its --join and its crawl directory",
				"agent", m.agent.ID, "address", m.agent.GossipAddr, "error", reason)
		}
	}
}

// reportEnded tells a process that its incarnation ended, at most once in a ProbeInterval. If another process of the ID
// is a member, both will find the conflict.
func (d *delegate) reportEnded(name string, m *metadata) {
	st := &d.s.state
	if st.table.hasMember(m.agent.ID) {
		return
	}
	now := time.Now()
	if len(st.rejected) > maxProcesses {
		clear(st.rejected)
	}
	if last, ok := st.rejected[name]; ok && now.Sub(last) < d.s.o.Timings.ProbeInterval {
		return
	}
	st.rejected[name] = now
	d.queueMessage(outgoingMessage{
		to: m.agent.GossipAddr, process: name,
		message: message{kind: incarnationEnded, process: name, incarnation: st.table.ended[m.agent.ID]},
	})
}

// refuseKey is called by the transport for a packet or stream that no gossip key opens (M5).
func (d *delegate) refuseKey(from string) {
	st := &d.s.state
	st.mu.Lock()
	st.stats.OtherKey++
	first := st.stats.OtherKey == 1
	st.mu.Unlock()
	if first {
		d.s.o.Log.Warn("refused a message that is not encrypted with this crawl's gossip key; if the sender belongs to this "+
			"crawl, give it a file from this crawl's `orbweaver ca`; further ones are only counted", "address", from)
	}
}

// queueMessage leaves a message to the maintainer. At the limit it is lost, as any datagram may be.
func (d *delegate) queueMessage(m outgoingMessage) {
	st := &d.s.state
	if len(st.outgoing) < maxProcesses {
		st.outgoing = append(st.outgoing, m)
	}
	notify.Send(d.s.wake)
}
