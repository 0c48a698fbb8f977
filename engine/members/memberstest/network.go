// Package memberstest is a network inside the process for tests and simulations of engine/members: datagrams and streams between addresses,
// with delay, loss, one-way cuts, partitions and agents that are not scheduled for a while. Everything in it waits on channels and timers, so
// it runs in virtual time (testing/synctest).
package memberstest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// Network joins Transports. It is safe for concurrent use.
type Network struct {
	mu         sync.Mutex
	rng        *rand.Rand
	transports map[netip.AddrPort]*Transport
	cuts       map[link]bool
	delayMin   time.Duration
	delayMax   time.Duration
	loss       float64
	tap        func(Datagram)
	traffic    Traffic
}

// link is one direction between two addresses.
type link struct{ from, to netip.AddrPort }

// Datagram is what Tap sees and Inject plays back. Tap lends the bytes.
type Datagram struct {
	From, To netip.AddrPort
	Bytes    []byte
}

// Traffic is what was sent, lost or not, since New.
type Traffic struct {
	Datagrams     int64
	DatagramBytes int64 // without headers
	Streams       int64
	StreamBytes   int64 // both directions
	Lost          int64 // datagrams
}

// New makes a network without delay and loss. The seed draws both.
func New(seed uint64) *Network {
	return &Network{
		rng:        rand.New(rand.NewPCG(seed, 1)),
		transports: map[netip.AddrPort]*Transport{},
		cuts:       map[link]bool{},
	}
}

// Delay makes each datagram, and each write to a stream, take between least and most. Datagrams overtake each other.
func (n *Network) Delay(least, most time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delayMin, n.delayMax = least, max(least, most)
}

// Lose drops this share of the datagrams, 0 to 1.
func (n *Network) Lose(share float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.loss = share
}

// Cut stops what goes from any of some addresses to any of others; the way back stays open.
func (n *Network) Cut(from, to []netip.AddrPort) { n.set(from, to, true) }

// Split cuts both ways between two sides.
func (n *Network) Split(one, other []netip.AddrPort) {
	n.Cut(one, other)
	n.Cut(other, one)
}

// Mend opens what goes from any of some addresses to any of others.
func (n *Network) Mend(from, to []netip.AddrPort) { n.set(from, to, false) }

// Heal opens all that was cut.
func (n *Network) Heal() {
	n.mu.Lock()
	defer n.mu.Unlock()
	clear(n.cuts)
}

func (n *Network) set(from, to []netip.AddrPort, cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, f := range from {
		for _, t := range to {
			if cut && f != t {
				n.cuts[link{f, t}] = true
			} else {
				delete(n.cuts, link{f, t})
			}
		}
	}
}

// Tap shows each datagram that is sent to see, which must not call the Network; nil for nobody.
func (n *Network) Tap(see func(Datagram)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tap = see
}

// Inject delivers a datagram now, whoever sent it when.
func (n *Network) Inject(d Datagram) {
	n.mu.Lock()
	t := n.transports[d.To]
	n.mu.Unlock()
	if t != nil {
		t.take(&memberlist.Packet{Buf: append([]byte(nil), d.Bytes...), From: address(d.From), Timestamp: time.Now()})
	}
}

// Traffic is what was sent.
func (n *Network) Traffic() Traffic {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.traffic
}

// Transport opens the address, once until it is shut down.
func (n *Network) Transport(at netip.AddrPort) (*Transport, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.transports[at] != nil {
		return nil, fmt.Errorf("memberstest: %v: address already in use", at)
	}
	t := newTransport(n, at)
	n.transports[at] = t
	return t, nil
}

func (n *Network) close(t *Transport) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.transports[t.at] == t {
		delete(n.transports, t.at)
	}
}

// send decides what becomes of a datagram.
func (n *Network) send(from *Transport, to netip.AddrPort, b []byte) {
	n.mu.Lock()
	n.traffic.Datagrams++
	n.traffic.DatagramBytes += int64(len(b))
	if n.tap != nil {
		n.tap(Datagram{From: from.at, To: to, Bytes: b})
	}
	if n.cuts[link{from.at, to}] || n.loss > 0 && n.rng.Float64() < n.loss {
		n.traffic.Lost++
		n.mu.Unlock()
		return
	}
	wait := n.delay() + from.frozenFor()
	n.mu.Unlock()
	p := &memberlist.Packet{Buf: append([]byte(nil), b...), From: address(from.at)}
	n.arrive(to, p, wait)
}

// arrive delivers after a while, and later if the receiver is not scheduled then.
func (n *Network) arrive(to netip.AddrPort, p *memberlist.Packet, wait time.Duration) {
	if wait > 0 {
		time.AfterFunc(wait, func() { n.arrive(to, p, 0) })
		return
	}
	n.mu.Lock()
	t := n.transports[to]
	n.mu.Unlock()
	if t == nil {
		return
	}
	if frozen := t.frozenFor(); frozen > 0 {
		n.arrive(to, p, frozen)
		return
	}
	p.Timestamp = time.Now()
	t.take(p)
}

func (n *Network) delay() time.Duration {
	if n.delayMax == n.delayMin {
		return n.delayMin
	}
	return n.delayMin + time.Duration(n.rng.Int64N(int64(n.delayMax-n.delayMin)))
}

// pause is how long bytes written now to a stream are on their way, and whether the link is open at all.
func (n *Network) pause(from, to *Transport, bytes int) (time.Duration, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.traffic.StreamBytes += int64(bytes)
	return n.delay() + max(from.frozenFor(), to.frozenFor()), !n.cuts[link{from.at, to.at}]
}

// way finds the other end of a stream, and says whether both directions are open.
func (n *Network) way(from *Transport, to netip.AddrPort) (*Transport, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.traffic.Streams++
	return n.transports[to], !n.cuts[link{from.at, to}] && !n.cuts[link{to, from.at}]
}

// address is a net.Addr.
type address netip.AddrPort

// Network is not a real one.
func (address) Network() string { return "inside" }

// String is the address with its port.
func (a address) String() string { return netip.AddrPort(a).String() }
