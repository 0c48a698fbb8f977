package peering

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"orbweaver/engine/cluster/membership"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/transport"
)

// A process with the gossip key, which all agents share, can announce any agent, under any name and with any
// capacity. So an agent counts only when it has proved what membership says of it: the agent at its address for letters
// must hold the certificate of its name, and must answer there that this is its data and its capacity. The capacity
// that counts is never larger than the certificate allows. Without certificates nothing is proved.

// proof is what an agent has proved.
type proof struct {
	said  membership.Agent // what membership says of it
	peer  ownership.Agent  // what counts of that
	ok    bool
	busy  bool // it is being asked
	tries int
	again time.Time // when to ask it again, if it has proved nothing
}

const (
	// questionCard asks an agent what its card is; the answer is cardSize bytes: data and capacity, big endian.
	questionCard = 2
	cardSize     = 8 + 4

	proofPatience = 5 * time.Second  // for one agent
	proofAgain    = time.Second      // after a first failure; doubles
	proofMost     = 30 * time.Second // up to this
	proofsAtOnce  = 32               // agents that are asked at a time
	provenMost    = 1000             // agents that count: package transport knows 1,024
)

// errCard says that an agent does not confirm what membership says of it.
var errCard = errors.New("peering: the agent does not confirm what membership says of it")

// card is what this agent answers to questionCard.
func (s *Seat) card() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, s.store), uint32(s.o.Capacity))
}

// proveAll keeps asking agents that have proved nothing, until ctx ends.
func (s *Seat) proveAll(ctx context.Context, g *membership.Service) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		wait := s.proveSome(ctx, g.View())
		timer.Reset(wait)
		select {
		case <-g.Changed():
			s.poke()
		case <-s.proved:
			s.poke()
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// poke says that Peers may have changed, and that an agent has proved something or failed to.
func (s *Seat) poke() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// proveSome begins to ask agents of a View, those first that have failed least often, and says when to look again.
func (s *Seat) proveSome(ctx context.Context, v *membership.View) (wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait = time.Hour
	if s.closed {
		return wait
	}
	now, here := time.Now(), make(map[string]bool, len(v.Agents))
	var due []*proof
	for i := range v.Agents {
		a := v.Agents[i]
		here[a.ID] = true
		if a.ID == s.o.ID {
			continue
		}
		one := s.proofs[a.ID]
		if one == nil || one.said != a {
			one = &proof{said: a}
			s.proofs[a.ID] = one
		}
		switch {
		case one.ok || one.busy:
		case one.again.After(now):
			wait = min(wait, one.again.Sub(now))
		default:
			due = append(due, one)
		}
	}
	for id, one := range s.proofs {
		if !here[id] && !one.ok { // one that has proved its name may come back with the same card
			delete(s.proofs, id)
		}
	}
	slices.SortStableFunc(due, func(a, b *proof) int { return cmp.Compare(a.tries, b.tries) })
	for _, one := range due[:min(len(due), proofsAtOnce-s.asking)] {
		one.busy = true
		s.asking++
		s.loops.Go(func() { s.prove(ctx, one) })
	}
	return wait
}

// prove asks one agent.
func (s *Seat) prove(ctx context.Context, one *proof) {
	ctx, cancel := context.WithTimeout(ctx, proofPatience)
	defer cancel()
	capacity, err := s.confirm(ctx, &one.said)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking--
	one.busy = false
	one.tries++
	switch {
	case err == nil:
		one.ok, one.peer = true, ownership.Agent{ID: one.said.ID, Capacity: capacity, Store: one.said.Store}
	case ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded):
		one.again = time.Now().Add(min(proofAgain<<min(one.tries-1, 8), proofMost))
		if one.tries == 1 {
			s.o.Log.Warn("an agent is not counted, since it has not proved its name by a certificate; it is asked again", "agent", one.said.ID, "address", one.said.MessageAddr, "error", err)
		}
	}
	select {
	case s.proved <- struct{}{}:
	default:
	}
}

// confirm asks an agent for the proof, and gives the capacity that counts.
func (s *Seat) confirm(ctx context.Context, a *membership.Agent) (capacity int, err error) {
	to := transport.Peer{ID: a.ID, Addr: a.MessageAddr}
	most, err := s.transport.Prove(ctx, to)
	if err != nil {
		return 0, err
	}
	answer, err := s.transport.Call(ctx, to, questionCard, nil)
	switch {
	case err == nil && (len(answer) != cardSize || binary.BigEndian.Uint64(answer) != a.Store || int64(binary.BigEndian.Uint32(answer[8:])) != int64(a.Capacity)):
		return 0, fmt.Errorf("%w: it says %x", errCard, answer[:min(len(answer), cardSize)])
	case err != nil && !errors.Is(err, transport.ErrRefused) && !errors.Is(err, transport.ErrVersion) && !errors.Is(err, transport.ErrBanned):
		return 0, err // one that speaks another version, or does not speak with this agent, has its name all the same
	}
	return min(a.Capacity, most), nil
}

// firstProofs waits until the agents that are there when this one joins have been asked, for a while.
func (s *Seat) firstProofs(ctx context.Context, g *membership.Service) {
	late := time.NewTimer(proofPatience)
	defer late.Stop()
	for {
		asked := true
		s.mu.Lock()
		for _, a := range g.View().Agents {
			one := s.proofs[a.ID]
			asked = asked && (a.ID == s.o.ID || one != nil && (one.ok || one.tries > 0))
		}
		s.mu.Unlock()
		if asked {
			s.poke()
			return
		}
		select {
		case <-s.changed:
		case <-late.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// counted gives what counts of an agent; false if it has not proved its name.
func (s *Seat) counted(a *membership.Agent) (ownership.Agent, bool) {
	if s.o.Identity == nil || a.ID == s.o.ID {
		return peerOf(a), true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.proofs[a.ID]
	if one == nil || !one.ok || one.said != *a {
		return peerOf(a), false
	}
	return one.peer, true
}

// knew gives what counts of an agent that is gone; false if none of its name has ever proved that.
func (s *Seat) knew(a *membership.Agent) (ownership.Agent, bool) {
	p := peerOf(a)
	if s.o.Identity == nil || a.ID == s.o.ID {
		return p, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.proofs[a.ID]
	if one == nil || !one.ok {
		return p, false
	}
	if one.said.Store == a.Store {
		p = one.peer
	}
	return p, true
}
