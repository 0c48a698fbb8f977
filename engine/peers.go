package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/outbox"
)

// peers is this agent among the others: it knows who is responsible for a host, sends what belongs to others and takes what they send.
// What it does for a URL happens under the shared cut, in the step that moves the URL; the circle changes under the exclusive one.
type peers struct {
	seam     Peering
	box      *outbox.Outbox
	ledger   *ledger
	frontier *Frontier
	gate     *gate
	say      *slog.Logger
	wake     func()        // of the distributor
	store    uint64        // tells the data in this directory from others
	grace    time.Duration // how long a host that was another's is left alone
	least    int           // agents that there must be before the crawl begins

	over   atomic.Bool   // all agents are done
	calmAt atomic.Int64  // the count at which this agent had nothing to do
	calmed chan struct{} // capacity 1: it has nothing to do
	broken chan error    // capacity 1: letters cannot be carried any more
	lose   func(error)   // ends the crawl in good order: there is no place for this agent

	circle atomic.Pointer[circle]
	before atomic.Pointer[circle] // the one that circle replaced
	turned atomic.Int64           // when, in Unix ns
	open   atomic.Bool            // letters are taken

	mu      sync.Mutex
	posts   map[string]*post // guarded by mu: who carries letters to whom
	letters sync.WaitGroup   // of carriers
	n       postCounters
}

// postCounters are what went between agents, in this run.
type postCounters struct {
	lettersOut, lettersIn, bytesOut, bytesIn, failed, refused atomic.Int64
}

// peerPatience is how long an agent that starts again waits for those whom it knew before it takes them for gone.
const peerPatience = 15 * time.Second

// waitingForAgents is why a crawl does not begin.
const waitingForAgents = "waiting for the other agents"

// peersCut is what a manifest says of the other agents.
type peersCut struct {
	Outbox outbox.Cut `json:"outbox"`
	Peers  []Peer     `json:"peers"` // those who were there
}

// begin makes the circle that the last cut knew, or that of this agent alone; who is there now is found out when the crawl runs.
func (p *peers) begin(cut *peersCut) error {
	p.gate.Shut(waitingForAgents) // who has not asked the others yet does not know what is its own, or still is
	known := []Peer{{ID: p.seam.Self(), Capacity: 1}}
	if cut != nil {
		known = cut.Peers
	}
	c, err := newCircle(known, p.seam.Self())
	if err != nil {
		return err
	}
	return p.turn(c)
}

// turn takes another circle.
func (p *peers) turn(c *circle) error {
	for i, peer := range c.peers {
		if i == c.self {
			continue
		}
		if _, err := p.box.Line(peer.ID); err != nil {
			return fmt.Errorf("engine: agents: %w", err)
		}
	}
	p.ledger.cut.Lock()
	defer p.ledger.cut.Unlock()
	p.before.Store(p.circle.Load())
	p.circle.Store(c)
	p.turned.Store(time.Now().UnixNano())
	return nil
}

// notBefore is when a site may be visited that was another agent's a moment ago, who may just have asked for something; zero for any
// other.
func (p *peers) notBefore(site []byte) time.Time {
	was := p.before.Load()
	if was == nil {
		return time.Time{}
	}
	due := time.Unix(0, p.turned.Load()).Add(p.grace)
	if time.Now().After(due) || was.mine(site) {
		return time.Time{}
	}
	return due
}

// run follows who is there, until ctx ends. Letters are carried until then.
func (p *peers) run(ctx context.Context) error {
	defer p.letters.Wait()
	if err := p.seam.Join(ctx, p.store, p); err != nil {
		if ctx.Err() == nil {
			p.lose(err)
		}
		return nil
	}
	patience := time.NewTimer(peerPatience)
	defer patience.Stop()
	for met, patient := false, true; ; {
		c, err := newCircle(p.seam.Peers(), p.seam.Self())
		if err != nil {
			return err
		}
		if met = met || len(c.peers) >= p.least && (!patient || c.hasAll(p.circle.Load())); met {
			if err := p.follow(ctx, c); err != nil {
				return err
			}
			p.gate.Open(waitingForAgents)
		}
		select {
		case <-p.seam.Changed():
		case <-patience.C:
			patient = false
		case err := <-p.broken:
			return err
		case <-p.seam.Lost():
			p.lose(p.seam.Err())
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// fail ends the crawl.
func (p *peers) fail(err error) {
	select {
	case p.broken <- err:
	default:
	}
}

// admit takes letters from now on, or none any more.
func (p *peers) admit(open bool) {
	p.ledger.cut.Lock()
	defer p.ledger.cut.Unlock()
	p.open.Store(open)
}

// mine says that this agent is responsible for a site or URL.
func (p *peers) mine(url []byte) bool { return p.circle.Load().mine(url) }

// follow makes c the circle, if it is not, sends letters to all of it, and gives what waits for others to those who are responsible now.
func (p *peers) follow(ctx context.Context, c *circle) error {
	if !p.circle.Load().same(c) {
		if err := p.become(ctx, c); err != nil {
			return err
		}
	}
	p.carry(ctx, c)
	err := p.reroute(ctx, c)
	p.wake()
	return err
}

// become takes another circle.
func (p *peers) become(ctx context.Context, c *circle) error {
	for {
		err := p.turn(c)
		if err == nil {
			break
		}
		if err := p.ledger.disk.wait(ctx, err); errors.Is(err, ErrFullAtStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	names := make([]string, len(c.peers))
	for i, peer := range c.peers {
		names[i] = peer.ID
	}
	p.say.Info("the agents of this crawl are others now", "agents", len(names), "names", names)
	return nil
}

// reroute gives what waits for agents that are gone to those who are responsible now.
func (p *peers) reroute(ctx context.Context, c *circle) error {
	for _, id := range p.box.Lines() {
		if c.has(id) {
			continue
		}
		p.dismiss(id)
		for {
			err := p.empty(id)
			if err == nil {
				break
			}
			if err := p.ledger.disk.wait(ctx, err); errors.Is(err, ErrFullAtStop) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *peers) empty(id string) error {
	p.ledger.cut.RLock()
	defer p.ledger.cut.RUnlock()
	var d door
	var bad error
	var items [][]byte
	err := p.box.Empty(id, func(item []byte) { items = append(items, append([]byte(nil), item...)) })
	for _, item := range items { // the box is not called by who it calls
		bad = errors.Join(bad, p.take(&d, item))
	}
	if bad != nil {
		panic(fmt.Sprintf("BUG: engine: what waited for %q cannot be read: %v", id, bad))
	}
	return err
}

// pass sends an item of the frontier to the agent that is responsible for it, for who has found that this one is not. The item has its
// whole URL.
func (p *peers) pass(scratch []byte, it *Item) []byte {
	c := p.circle.Load()
	scratch = appendItem(append(scratch[:0], letterLink), it)
	p.box.Put(c.peers[c.owner(it.Rest)].ID, scratch)
	return scratch
}

// waitRoom waits while the outbox is in memory for want of disk.
func (p *peers) waitRoom(ctx context.Context) error {
	for p.box.Short() {
		err := p.spill()
		if err == nil {
			return nil
		}
		if err := p.ledger.disk.wait(ctx, err); errors.Is(err, ErrFullAtStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (p *peers) spill() error {
	p.ledger.cut.RLock()
	defer p.ledger.cut.RUnlock()
	return p.box.Spill()
}

// mark is the checkpointer's: everybody stands still.
func (p *peers) mark() (*peersCut, []byte, error) {
	box, image, err := p.box.Cut()
	if err != nil {
		return nil, nil, err
	}
	return &peersCut{Outbox: box, Peers: p.circle.Load().peers}, appendSum(image), nil
}
