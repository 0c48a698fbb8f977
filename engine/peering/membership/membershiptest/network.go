// Package membershiptest simulates the network below package membership for tests. It carries datagrams and streams
// between addresses inside the process. It simulates delay, loss, faults of one direction, partitions, and agents that
// do not run for a while. It waits on channels and timers only, so it runs in virtual time (testing/synctest).
package membershiptest

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// Network connects Transports. It is safe for concurrent use.
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

// Datagram is what Tap reports and Inject delivers. During Tap its bytes are borrowed.
type Datagram struct {
	From, To netip.AddrPort
	Bytes    []byte
}

// Traffic counts what was sent since New, also if it was lost.
type Traffic struct {
	Datagrams     int64
	DatagramBytes int64 // without headers
	Streams       int64
	StreamBytes   int64 // both directions
	Lost          int64 // datagrams
}

// New makes a network without delay and loss. The seed of its random numbers decides about both.
func New(seed uint64) *Network {
	return &Network{
		rng:        rand.New(rand.NewPCG(seed, 1)),
		transports: map[netip.AddrPort]*Transport{},
		cuts:       map[link]bool{},
	}
}

// Delay sets the range of the delay of each datagram and of each write to a stream. Datagrams can change their order.
func (n *Network) Delay(least, most time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.delayMin, n.delayMax = least, max(least, most)
}

// Lose sets the share of datagrams that are lost, 0 to 1.
func (n *Network) Lose(share float64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.loss = share
}

// Cut blocks the direction from each of some addresses to each of others.
func (n *Network) Cut(from, to []netip.AddrPort) { n.set(from, to, true) }

// Split blocks both directions between two sides.
func (n *Network) Split(left, right []netip.AddrPort) {
	n.Cut(left, right)
	n.Cut(right, left)
}

// Mend opens the direction from each of some addresses to each of others.
func (n *Network) Mend(from, to []netip.AddrPort) { n.set(from, to, false) }

// Heal opens all directions.
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

// Tap sets a function that is called for each sent datagram; nil removes it. The function must not call the Network.
func (n *Network) Tap(tap func(Datagram)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.tap = tap
}

// Inject delivers a datagram now, without delay and loss.
func (n *Network) Inject(d Datagram) {
	n.mu.Lock()
	t := n.transports[d.To]
	n.mu.Unlock()
	if t != nil {
		t.receive(&memberlist.Packet{Buf: append([]byte(nil), d.Bytes...), From: address(d.From), Timestamp: time.Now()})
	}
}

// Traffic returns the counts.
func (n *Network) Traffic() Traffic {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.traffic
}

// Transport opens an address. It can be opened again after Shutdown.
func (n *Network) Transport(at netip.AddrPort) (*Transport, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.transports[at] != nil {
		return nil, fmt.Errorf("membershiptest: %v: address already in use", at)
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

// send delivers, delays or loses a datagram.
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

// arrive delivers a datagram after a delay, or later if the receiver does not run then.
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
	t.receive(p)
}

func (n *Network) delay() time.Duration {
	if n.delayMax == n.delayMin {
		return n.delayMin
	}
	return n.delayMin + time.Duration(n.rng.Int64N(int64(n.delayMax-n.delayMin)))
}

// pause returns the delay of bytes that are written to a stream now, and whether the direction is open.
func (n *Network) pause(from, to *Transport, bytes int) (time.Duration, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.traffic.StreamBytes += int64(bytes)
	return n.delay() + max(from.frozenFor(), to.frozenFor()), !n.cuts[link{from.at, to.at}]
}

// connect finds the other end of a stream, and reports whether both directions are open.
func (n *Network) connect(from *Transport, to netip.AddrPort) (*Transport, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.traffic.Streams++
	return n.transports[to], !n.cuts[link{from.at, to}] && !n.cuts[link{to, from.at}]
}

// address implements net.Addr.
type address netip.AddrPort

// Network implements net.Addr.
func (address) Network() string { return "simulated" }

// String implements net.Addr.
func (a address) String() string { return netip.AddrPort(a).String() }
