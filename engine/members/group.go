package members

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"
)

// Group is this agent's place among the others. It is safe for concurrent use.
type Group struct {
	o    Options
	list *memberlist.Memberlist
	conf *memberlist.Config  // memberlist's own: SuspicionMult changes under memberlist's lock, see onEvent
	keys *memberlist.Keyring // nil without encryption

	view    atomic.Pointer[View]
	changed chan struct{}
	claimed chan struct{} // closed when this agent has its name
	lost    chan struct{} // closed when the Group is over by itself
	err     error         // why; written before lost is closed

	ctx    context.Context //nolint:containedctx // the life of the Group, which Close ends
	cancel context.CancelFunc
	wake   chan struct{} // the keeper has work
	loops  sync.WaitGroup

	refuting chan struct{} // the seeker shall see to it that a refutation is heard
	sent     chan struct{} // capacity 1: a packet took news along, or who is there has changed

	rekeying   sync.Mutex // one SetKeys at a time
	announcing sync.Mutex // one change of our own card at a time
	closing    sync.Mutex // serializes Leave and Close
	closed     bool

	mu     sync.Mutex // guards what follows; nothing of memberlist is called with it
	roster *roster
	dirty  bool   // roster is ahead of view
	tell   []tale // what the keeper shall send
	told   map[string]time.Time
	heard  bool  // the rival that was knocked at has answered
	learnt bool  // which terms have ended: an exchange of state has come to its end
	asked  asked // the knock under way
	packed int64 // packets that took news along, newest first
	stats  Stats
}

// tale is a message that waits for the keeper, since callbacks of memberlist must not send.
type tale struct {
	to   netip.AddrPort
	name string
	word word
}

// asked is a knock under way.
type asked struct {
	name  string
	nonce uint64
	at    time.Time
}

// Join opens the sockets and looks for the others. If nobody answers it goes on looking in the background, and the agent is alone meanwhile.
// If somebody does, it returns when the agent is a member: a round trip; or, if another process of the same ID seems to live elsewhere,
// when that has answered (ErrName) or has died, which takes as long as a death takes. An agent of another crawl (ErrCrawl) and another key
// (ErrKey) are errors here and counted later.
//
// ctx bounds the joining alone.
func Join(ctx context.Context, o Options) (*Group, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	g := &Group{
		o:       o,
		changed: make(chan struct{}, 1),
		claimed: make(chan struct{}),
		lost:    make(chan struct{}),
		wake:    make(chan struct{}, 1),
		told:    map[string]time.Time{},

		refuting: make(chan struct{}, 1),
		sent:     make(chan struct{}, 1),
	}
	g.ctx, g.cancel = context.WithCancel(context.WithoutCancel(ctx))
	var err error
	if g.keys, err = newKeyring(o.Key, o.Accepted); err == nil {
		err = g.open()
	}
	if err != nil {
		g.cancel()
		return nil, err
	}
	g.loops.Go(g.keep)
	met, err := g.firstContact(ctx)
	if err == nil && met {
		select {
		case <-g.claimed:
			g.greet()
		case <-g.lost:
			err = g.err
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.loops.Go(func() { g.seek(met || len(g.o.Seeds) == 0) })
	return g, nil
}

// open makes the process known to itself: sockets, memberlist, roster.
func (g *Group) open() error {
	transport := g.o.Transport
	if transport == nil {
		t, err := listen(g.ctx, g.o.Listen, g.words())
		if err != nil {
			return err
		}
		transport = t
		if g.o.Self.Gossip.Port() == 0 {
			g.o.Self.Gossip = netip.AddrPortFrom(g.o.Self.Gossip.Addr(), t.port())
		}
	}
	var nonce [8]byte
	_, _ = rand.Read(nonce[:]) // it cannot fail
	self := process{name: g.o.Self.ID + "@" + strconv.FormatUint(binary.BigEndian.Uint64(nonce[:]), 36), card: card{agent: g.o.Self, term: 1}}
	if len(g.o.Seeds) == 0 {
		self.stage = member // who has nobody to ask has the name
		close(g.claimed)
	}
	g.roster = newRoster(self)
	g.conf = g.config(self.name, transport)
	g.publish()
	list, err := memberlist.Create(g.conf)
	if err != nil {
		return errors.Join(fmt.Errorf("members: %w", err), transport.Shutdown())
	}
	g.list = list
	return nil
}

// retells is how often each agent passes news on, times the logarithm of the group's size. With memberlist's 4 an agent of eight
// misses one piece of news in eighty, (6/7)^28, and hears of it at the next Sync; and to miss that somebody is not dead after all makes it
// dead. With 12 it is one in four hundred thousand.
const retells = 12

// config translates. Whatever has no line here has memberlist's value for local networks.
func (g *Group) config(name string, transport memberlist.Transport) *memberlist.Config {
	t := &g.o.Timings
	c := memberlist.DefaultLANConfig()
	c.Name, c.Transport = name, transport
	c.AdvertiseAddr, c.AdvertisePort = g.o.Self.Gossip.Addr().Unmap().String(), int(g.o.Self.Gossip.Port())
	c.BindAddr, c.BindPort = c.AdvertiseAddr, c.AdvertisePort
	c.ProbeInterval, c.ProbeTimeout = t.Probe, t.Answer
	c.SuspicionMult, c.SuspicionMaxTimeoutMult = t.suspicionMult(1), 1
	c.AwarenessMaxMultiplier = 3
	c.GossipInterval, c.GossipToTheDeadTime = t.Gossip, t.remembered()
	c.RetransmitMult = g.o.Retells
	c.PushPullInterval, c.TCPTimeout = t.Sync, t.Stream
	c.EnableCompression = false // LZW of a hundred bytes costs more than it saves
	c.Keyring = g.keys
	c.DNSConfigPath = "" // names are resolved before memberlist sees them
	c.Logger = slog.NewLogLogger(g.words(), slog.LevelDebug)
	hooks := &hooks{g}
	c.Delegate, c.Events, c.Alive, c.Merge, c.Ping = hooks, hooks, hooks, hooks, hooks
	return c
}

// View is who is there. It costs one atomic load.
func (g *Group) View() *View { return g.view.Load() }

// Changed is poked when the Serial of View has grown. It holds one poke: look at the View after each.
func (g *Group) Changed() <-chan struct{} { return g.changed }

// Lost is closed when the Group is over although nobody closed it: another agent has the name (ErrName). Err says why. The others do not
// count on this agent any more, and it must be closed.
func (g *Group) Lost() <-chan struct{} { return g.lost }

// Err is why the Group was lost; nil before.
func (g *Group) Err() error {
	select {
	case <-g.lost:
		return g.err
	default:
		return nil
	}
}

// Self is this agent, with the address that it got.
func (g *Group) Self() Agent { return g.o.Self }

// Stats counts what was refused.
func (g *Group) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.stats
}

// announce tells the others what our card says now, and waits until that has been sent often enough, or for so long.
func (g *Group) announce(wait time.Duration) error {
	g.announcing.Lock()
	defer g.announcing.Unlock()
	return g.list.UpdateNode(wait)
}

// Close closes the sockets and waits for this package's goroutines; memberlist's end by themselves within Stream. To the others it is a
// death. A second call does nothing.
func (g *Group) Close() error {
	g.closing.Lock()
	defer g.closing.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	g.cancel()
	err := g.list.Shutdown()
	g.loops.Wait()
	return err
}

// publish makes a View of the roster.
func (g *Group) publish() {
	g.mu.Lock()
	defer g.mu.Unlock()
	old := g.view.Load()
	g.dirty = false
	v := &View{Self: g.o.Self, Serial: 1}
	v.Agents, v.Suspected = g.roster.agents()
	v.Gone = g.roster.absent()
	if old == nil {
		g.view.Store(v)
		return
	}
	v.Serial = old.Serial
	same := equalAgents(old.Agents, v.Agents)
	if !same {
		v.Serial++
	}
	g.view.Store(v)
	if !same {
		poke(g.changed)
	}
}

func equalAgents(a, b []Agent) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
