package simnet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"

	"orbweaver/dnsres/dnstest"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/origin"
)

// Options of a Net. The zero value is a network without latency or loss, served directly.
type Options struct {
	Latency time.Duration  // one way; connecting takes two
	Loss    float64        // share of connections, 0 to 1, that are reset after a while
	Packets float64        // share of packets, 0 to 1, that are lost and sent again, as TCP does it
	MTU     int            // bytes of the largest packet that passes; larger packets vanish without an error. 0: all pass
	Seed    uint64         // what is lost, and when
	Window  int            // bytes under way in one direction; default 64 KiB
	Proxy   netip.AddrPort // where the world's proxy listens, if anywhere
	Log     *arrivals.Log  // where requests are noted; the same as Serve.Log
	Serve   origin.ServeOptions

	// TLS, if not nil, is given the connections to port 443 and must serve and close them. Without it that port is
	// served as any other, in clear text but as https.
	TLS func(net.Conn)
}

// State is how an address behaves.
type State uint8

// The states.
const (
	Up        State = iota
	Refused         // connections are refused
	BlackHole       // connecting never ends
	Reset           // connections are accepted and reset at the first byte
)

// Net is the network of one world. It is safe for concurrent use.
type Net struct {
	world *origin.Web
	o     Options

	mu     sync.Mutex // held for a few instructions only
	random *rand.Rand
	states map[netip.Addr]State
	open   map[*conn]struct{} // server ends
	closed bool
	names  dnstest.Server
	local  func() error // asked before a connection or a question is made; nil for none
	stats  Stats
	port   uint16
	served sync.WaitGroup
}

// Stats counts what a Net did.
type Stats struct {
	Dials, Accepted, Refused, Lost uint64
	Open, MostOpen                 int
	Questions                      uint64
}

// ErrOptions is wrapped by every fault of the options.
var ErrOptions = errors.New("simnet: bad options")

// ErrClosed is what dialling a closed Net gives.
var ErrClosed = errors.New("simnet: closed")

// Validate returns all faults joined.
func (o Options) Validate() error {
	var faults []error
	if o.Latency < 0 {
		faults = append(faults, fmt.Errorf("%w: Latency %v is negative", ErrOptions, o.Latency))
	}
	if !(o.Loss >= 0 && o.Loss <= 1) {
		faults = append(faults, fmt.Errorf("%w: Loss %v is not between 0 and 1", ErrOptions, o.Loss))
	}
	if !(o.Packets >= 0 && o.Packets <= 1) {
		faults = append(faults, fmt.Errorf("%w: Packets %v is not between 0 and 1", ErrOptions, o.Packets))
	}
	if o.MTU < 0 {
		faults = append(faults, fmt.Errorf("%w: MTU %d is negative", ErrOptions, o.MTU))
	}
	if o.Window < 0 {
		faults = append(faults, fmt.Errorf("%w: Window %d is negative", ErrOptions, o.Window))
	}
	return errors.Join(faults...)
}

// New makes the network of a world. It panics if the options do not validate.
func New(world *origin.Web, o Options) *Net {
	if err := o.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	if o.Window == 0 {
		o.Window = 64 << 10
	}
	if o.Log != nil {
		o.Serve.Log = o.Log
	}
	n := &Net{
		world: world, o: o, random: rand.New(rand.NewPCG(o.Seed, 0x51)), states: map[netip.Addr]State{},
		open: map[*conn]struct{}{}, port: 32768,
	}
	n.names.Lookup = n.lookup
	return n
}

// Set says how an address behaves from now on. Going to any state but Up also resets what is open to it.
func (n *Net) Set(addr netip.Addr, state State) {
	var victims []*conn
	n.mu.Lock()
	n.states[addr.Unmap()] = state
	if state != Up {
		for c := range n.open {
			if at, ok := c.local.(*net.TCPAddr); ok && at.AddrPort().Addr().Unmap() == addr.Unmap() {
				victims = append(victims, c)
			}
		}
	}
	n.mu.Unlock()
	for _, c := range victims {
		c.reset()
	}
}

// BreakOff resets all open connections: this machine has lost its network.
func (n *Net) BreakOff() {
	n.mu.Lock()
	victims := slices.Collect(maps.Keys(n.open))
	n.mu.Unlock()
	for _, c := range victims {
		c.reset()
	}
}

// SetHost is Set for the address of a host. Other hosts of that address share its fate.
func (n *Net) SetHost(host string, state State) { n.Set(n.world.AddrOf(host), state) }

// SetProxy is Set for the proxy.
func (n *Net) SetProxy(state State) { n.Set(n.o.Proxy.Addr(), state) }

// DialContext connects to an address and port of the world. Only literal addresses are understood: names are the
// business of Exchange.
func (n *Net) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil || network != "tcp" && network != "tcp4" && network != "tcp6" {
		return nil, &net.OpError{Op: "dial", Net: network, Err: fmt.Errorf("simnet: cannot dial %q", addr)}
	}
	remote := net.TCPAddrFromAddrPort(to)
	fail := func(err error) (net.Conn, error) {
		if errno, ok := err.(syscall.Errno); ok { //nolint:errorlint // ours, bare
			err = os.NewSyscallError("connect", errno)
		}
		return nil, &net.OpError{Op: "dial", Net: network, Addr: remote, Err: err}
	}
	if err := n.localFault(); err != nil {
		return fail(err)
	}
	state := n.dialled(to.Addr())
	if state == BlackHole {
		<-ctx.Done()
		return fail(ctx.Err())
	}
	if err := pause(ctx, 2*n.o.Latency+n.handshake()); err != nil {
		return fail(err)
	}
	if state == Refused {
		return fail(syscall.ECONNREFUSED)
	}
	client, server, lost, err := n.connect(remote)
	if err != nil {
		return fail(err)
	}
	go n.serve(server, to, state, lost)
	return client, nil
}

// dialled counts a dial and says how the address behaves.
func (n *Net) dialled(addr netip.Addr) State {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.stats.Dials++
	state := n.states[addr.Unmap()]
	if state == Refused {
		n.stats.Refused++
	}
	return state
}

// connect makes the two ends. lost, if not zero, is how long the connection lasts. The caller must start serve.
func (n *Net) connect(remote *net.TCPAddr) (client, server *conn, lost time.Duration, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.closed {
		return nil, nil, 0, ErrClosed
	}
	if n.port++; n.port < 32768 {
		n.port = 32768
	}
	local := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(n.port)}
	client, server = newConns(local, remote, n.o.Latency, n.o.Window, n.lateness())
	if n.o.Loss > 0 && n.random.Float64() < n.o.Loss {
		lost = time.Duration(1 + n.random.Int64N(int64(time.Second)))
		n.stats.Lost++
	}
	n.open[server] = struct{}{}
	n.stats.Accepted++
	n.stats.MostOpen = max(n.stats.MostOpen, len(n.open))
	n.served.Add(1)
	return client, server, lost, nil
}

func (n *Net) serve(server *conn, to netip.AddrPort, state State, lost time.Duration) {
	defer n.served.Done()
	defer func() {
		_ = server.Close() // the world has mostly closed it already
		n.mu.Lock()
		delete(n.open, server)
		n.mu.Unlock()
	}()
	if lost > 0 {
		t := time.AfterFunc(lost, server.reset)
		defer t.Stop()
	}
	switch {
	case state == Reset:
		var one [1]byte
		_, _ = server.Read(one[:]) // whatever comes, and if nothing does
		server.reset()
	case to.Port() == 443 && to != n.o.Proxy && n.o.TLS != nil:
		n.o.TLS(server)
	default:
		o := n.o.Serve
		o.TLS = o.TLS || to.Port() == 443 && to != n.o.Proxy
		n.world.Serve(server, o)
	}
}

// handshake is how much longer it takes to connect since packets are lost.
func (n *Net) handshake() time.Duration {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.late(0) + n.late(0)
}

// packet is what a packet carries, if it is full.
const packet = 1460

// never is when that arrives which does not.
const never = 1000 * time.Hour

// lateness is late, for pipes; nil if nothing is ever late.
func (n *Net) lateness() func(bytes int) time.Duration {
	if n.o.Packets == 0 && n.o.MTU == 0 {
		return nil
	}
	return func(bytes int) time.Duration {
		if n.o.MTU > 0 && bytes+packetHead > n.o.MTU {
			return never // its full packets do not pass, however often they are sent
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		return n.late(bytes)
	}
}

// packetHead is what a packet carries besides.
const packetHead = 40

// late is how long the last of the packets that carry so many bytes takes longer than the first try would: a second
// after the first loss, twice as long after each other one, two minutes at most, and not for ever. A packet of no bytes
// begins or ends a connection. The caller holds mu.
func (n *Net) late(bytes int) (longest time.Duration) {
	if n.o.Packets == 0 {
		return 0
	}
	for range max((bytes+packet-1)/packet, 1) {
		wait, more := time.Duration(0), time.Second
		for tries := 1; n.random.Float64() < n.o.Packets; tries++ {
			if tries == 16 {
				return never
			}
			wait += more
			more = min(2*more, 2*time.Minute)
		}
		longest = max(longest, wait)
	}
	return longest
}

// pause waits, or gives the error of ctx if that ends first.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Stats gives the counters.
func (n *Net) Stats() Stats {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := n.stats
	s.Open = len(n.open)
	return s
}

// Close resets all connections, refuses new ones, and returns when the last server goroutine has ended.
func (n *Net) Close() error {
	n.mu.Lock()
	n.closed = true
	victims := make([]*conn, 0, len(n.open))
	for c := range n.open {
		victims = append(victims, c)
	}
	n.mu.Unlock()
	for _, c := range victims {
		c.reset()
	}
	n.served.Wait()
	return nil
}

// SetDNS takes the name server down (it does not reply) or up.
func (n *Net) SetDNS(up bool) { n.names.Down(netip.AddrPort{}, !up) }

// SetLocal has fault asked before each connection and each question: what this machine has no means for fails there.
// Nil is a machine that has all it needs.
func (n *Net) SetLocal(fault func() error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.local = fault
}

func (n *Net) localFault() error {
	n.mu.Lock()
	local := n.local
	n.mu.Unlock()
	if local == nil {
		return nil
	}
	return local()
}

// Exchange is the name server of the simulated web, whatever its address: A records of the web's hosts, and NXDOMAIN.
func (n *Net) Exchange(ctx context.Context, q *dns.Msg, upstream netip.AddrPort, tcp bool) (*dns.Msg, error) {
	n.mu.Lock()
	n.stats.Questions++
	n.mu.Unlock()
	if err := n.localFault(); err != nil {
		return nil, err
	}
	return n.names.Exchange(ctx, q, upstream, tcp)
}

// lookup is the answer to questions for a name.
func (n *Net) lookup(name string) dnstest.Script {
	s := dnstest.Script{TTL: 3600, Delay: 2 * n.o.Latency}
	if addr := n.world.AddrOf(name); addr.IsValid() {
		s.Addrs = []netip.Addr{addr}
	} else {
		s.Rcode = dns.RcodeNameError
	}
	return s
}
