package membership

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/memberlist"

	"orbweaver/internal/notify"
)

// Service runs the membership protocol for this agent. It is safe for concurrent use.
type Service struct {
	o      Options
	list   *memberlist.Memberlist
	config *memberlist.Config // SuspicionMult changes under memberlist's lock, see delegate.onChange
	keys   *keyring

	view     atomic.Pointer[View]
	changed  chan struct{}
	admitted chan struct{} // closed when this process is a member
	lost     chan struct{} // closed when the membership ended without Close
	err      error         // why; written before lost is closed

	ctx    context.Context //nolint:containedctx // the lifetime of the Service, which Close ends
	cancel context.CancelFunc
	loops  sync.WaitGroup

	wake      chan struct{} // capacity 1: the maintainer has work
	suspected chan struct{} // capacity 1: another agent cannot reach this one
	sent      chan struct{} // capacity 1: a gossip packet was sent, or the members changed

	announcing sync.Mutex // one change of the own metadata at a time
	closing    sync.Mutex // serializes Leave and Close
	closed     bool

	state state
}

// state is shared by callbacks, loops and callers. mu guards it. Memberlist is never called while mu is held, since its
// callbacks hold memberlist's lock.
type state struct {
	mu           sync.Mutex
	table        *table
	viewOutdated bool                 // the table is newer than the view
	outgoing     []outgoingMessage    // at most maxProcesses
	rejected     map[string]time.Time // by process: when it was last told that its incarnation ended
	conflict     conflictCheck
	endedKnown   bool  // the ended incarnations of another agent have been received
	packets      int64 // gossip packets sent so far; each carries the newest changes
	stats        Stats
}

// conflictCheck is a liveness request to a process with this agent's ID.
type conflictCheck struct {
	process  string
	nonce    uint64
	sentAt   time.Time
	answered bool
}

// Join opens the sockets and contacts the seeds. If no seed answers, the Service tries again in the background, and
// this agent is the only member until then. If a seed answers, Join returns when this agent is a member, which takes a
// round trip. If another process seems to have its ID, Join waits until that process has answered (ErrNameInUse) or is
// dead. During Join an agent of another crawl (ErrOtherCrawl) and another gossip key (ErrOtherKey) are errors. Later
// they are counted.
//
// ctx ends Join only, not the Service.
func Join(ctx context.Context, o Options) (*Service, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Service{
		o:         o,
		changed:   make(chan struct{}, 1),
		admitted:  make(chan struct{}),
		lost:      make(chan struct{}),
		wake:      make(chan struct{}, 1),
		suspected: make(chan struct{}, 1),
		sent:      make(chan struct{}, 1),
		state:     state{rejected: map[string]time.Time{}},
	}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	var err error
	if s.keys, err = newKeyring(o.Key, o.AcceptedKeys); err == nil {
		err = s.open()
	}
	if err != nil {
		s.cancel()
		return nil, err
	}
	s.loops.Go(s.maintain)
	contacted, err := s.contactSeeds(ctx)
	if err == nil && contacted {
		select {
		case <-s.admitted:
			s.exchangeWithMember()
		case <-s.lost:
			err = s.err
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.loops.Go(func() { s.rejoin(contacted || len(s.o.Seeds) == 0) })
	return s, nil
}

// open makes transport, table and memberlist.
func (s *Service) open() error {
	inner := s.o.Transport
	if inner == nil {
		t, err := listen(s.ctx, s.o.Self.GossipAddr, s.o.Log)
		if err != nil {
			return err
		}
		inner = t
		if s.o.Self.GossipAddr.Port() == 0 {
			s.o.Self.GossipAddr = netip.AddrPortFrom(s.o.Self.GossipAddr.Addr(), t.port())
		}
	}
	var nonce [8]byte
	_, _ = rand.Read(nonce[:]) // cannot fail
	self := process{
		name:     s.o.Self.ID + "@" + strconv.FormatUint(binary.BigEndian.Uint64(nonce[:]), 36),
		metadata: metadata{agent: s.o.Self, incarnation: 1},
	}
	if len(s.o.Seeds) == 0 {
		self.stage = member // there is no agent to ask
		close(s.admitted)
	}
	s.state.table = newTable(self)
	d := &delegate{s}
	transport := newGuardedTransport(inner, s.keys)
	transport.onOtherKey, transport.onNoAnswer = d.refuseKey, d.noteNoAnswer
	transport.start()
	s.config = s.memberlistConfig(self.name, transport, d)
	s.publish()
	list, err := memberlist.Create(s.config)
	if err != nil {
		return errors.Join(fmt.Errorf("membership: %w", err), transport.Shutdown())
	}
	s.list = list
	return nil
}

// defaultRetransmitMult is how often each agent gossips a change, multiplied by the logarithm of the number of agents.
// With memberlist's value of 4, an agent of eight misses one change in eighty, (6/7)^28, until the next full exchange.
// If it misses a refutation, it declares a living agent dead. With 12 it misses one change in 400,000.
const defaultRetransmitMult = 12

// memberlistConfig translates the options. All other fields have memberlist's values for local networks.
func (s *Service) memberlistConfig(name string, transport memberlist.Transport, d *delegate) *memberlist.Config {
	t := &s.o.Timings
	c := memberlist.DefaultLANConfig()
	c.Name, c.Transport = name, transport
	gossip := s.o.Self.GossipAddr
	c.AdvertiseAddr, c.AdvertisePort = gossip.Addr().Unmap().String(), int(gossip.Port())
	c.BindAddr, c.BindPort = c.AdvertiseAddr, c.AdvertisePort
	c.ProbeInterval, c.ProbeTimeout = t.ProbeInterval, t.ProbeTimeout
	c.SuspicionMult, c.SuspicionMaxTimeoutMult = t.suspicionMult(1), 1
	c.AwarenessMaxMultiplier = 3
	c.GossipInterval, c.GossipToTheDeadTime = t.GossipInterval, t.deadRetention()
	c.RetransmitMult = s.o.RetransmitMult
	c.PushPullInterval, c.TCPTimeout = t.PushPullInterval, t.StreamTimeout
	c.EnableCompression = false                                      // LZW costs more than it saves on a hundred bytes
	c.Keyring = s.keys.list                                          // nil without encryption
	c.DNSConfigPath = ""                                             // memberlist gets addresses only
	c.Logger = slog.NewLogLogger(s.o.Log.Handler(), slog.LevelDebug) // passed on, never parsed
	c.Delegate, c.Events, c.Alive, c.Merge, c.Ping = d, d, d, d, d
	c.DisableTcpPingsForNode = d.notePingUnanswered
	return c
}

// View returns the members. It costs one atomic load.
func (s *Service) View() *View { return s.view.Load() }

// Changed receives a value when the Serial of View has grown. It holds at most one value: read the View after each.
func (s *Service) Changed() <-chan struct{} { return s.changed }

// Lost is closed when the membership ended without Close, since another process has the name (ErrNameInUse). Err has
// the reason. The other agents do not count this agent any more, and the Service must be closed.
func (s *Service) Lost() <-chan struct{} { return s.lost }

// Err is the reason why Lost is closed; nil before.
func (s *Service) Err() error {
	select {
	case <-s.lost:
		return s.err
	default:
		return nil
	}
}

// Self is this agent, with the port that it listens at.
func (s *Service) Self() Agent { return s.o.Self }

// Stats returns what was refused so far.
func (s *Service) Stats() Stats {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	return s.state.stats
}

// announceMetadata gossips the own metadata. It waits until they have been sent often enough, at most for a time.
func (s *Service) announceMetadata(wait time.Duration) error {
	s.announcing.Lock()
	defer s.announcing.Unlock()
	return s.list.UpdateNode(wait)
}

// queueOnly as a waiting time means that a change is only queued for gossip.
const queueOnly = time.Nanosecond

// Close closes the sockets and waits for the goroutines of this package. Memberlist's goroutines end within
// StreamTimeout. For other agents this agent is dead then. A second call does nothing.
func (s *Service) Close() error {
	s.closing.Lock()
	defer s.closing.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	s.cancel()
	err := s.list.Shutdown()
	s.loops.Wait()
	return err
}

// publish makes a View of the table.
func (s *Service) publish() {
	s.state.mu.Lock()
	defer s.state.mu.Unlock()
	old := s.view.Load()
	s.state.viewOutdated = false
	v := &View{Self: s.o.Self, Serial: 1}
	v.Agents, v.Suspected = s.state.table.agents()
	v.Past = s.state.table.pastMembers()
	if old == nil {
		s.view.Store(v)
		return
	}
	v.Serial = old.Serial
	same := slices.Equal(old.Agents, v.Agents)
	if !same {
		v.Serial++ // M1
	}
	s.view.Store(v)
	if !same {
		notify.Send(s.changed)
	}
}
