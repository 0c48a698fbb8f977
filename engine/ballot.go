package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// questionBallot asks another agent whether it goes by the same circle, and for its leave to fetch by it. A ballot as JSON follows; the answer
// is another.
const questionBallot byte = 'Q'

// ballot is what one agent says to another of whom it goes by.
type ballot struct {
	Line    string `json:"line"`              // who says it
	Circle  uint64 `json:"circle"`            // the circle that it goes by
	Leaving bool   `json:"leaving,omitempty"` // it fetches nothing any more, and goes

	// Of a question.
	Run   uint64 `json:"run,omitempty"`   // of the one who asks
	Count uint64 `json:"count,omitempty"` // grows with each question of a Run
	Have  uint64 `json:"have,omitempty"`  // the hash of the sets of the other that are known already

	// Of an answer.
	Granted bool      `json:"granted,omitempty"`
	Want    uint64    `json:"want,omitempty"`    // the circle that it would go by; 0 for none
	SetsID  uint64    `json:"sets_id,omitempty"` // the hash of its sets
	Sets    agreement `json:"sets,omitempty"`    // only if they are not known
}

// vote is what another agent said last.
type vote struct {
	ballot
	at      time.Time // when it was asked
	granted time.Time // when it was asked what it said yes to last; zero if it never did
	circle  uint64    // what that was
}

// promise is what this agent has granted another.
type promise struct {
	at         time.Time // zero if nothing
	circle     uint64
	run, count uint64 // of the last question
}

// answer answers a ballot. To grant is to promise to grant nobody another circle for quorumTakeover, unless all who hold this one have given it
// back by asking for another. So whoever goes by one circle with the leave of a majority has nobody beside it who goes by another one.
func (q *quorum) answer(from string, question []byte) ([]byte, error) {
	var asked ballot
	if err := json.Unmarshal(question, &asked); err != nil || !strings.HasPrefix(asked.Line, from+"/") || len(asked.Line) > lineMost {
		return nil, fmt.Errorf("%w: a ballot of %q", ErrLetter, from)
	}
	there := slices.ContainsFunc(q.peers.seam.Peers(), func(p Peer) bool { return p.line() == asked.Line })
	q.mu.Lock()
	defer q.mu.Unlock()
	now := time.Now()
	said := ballot{Line: q.self, Circle: q.circle.hash(), Want: q.want, Leaving: q.leaving, SetsID: q.sets.id()}
	if asked.Have != said.SetsID {
		said.Sets = q.sets
	}
	given := q.given[asked.Line]
	if asked.Run == given.run && asked.Count <= given.count {
		return json.Marshal(said) // it was on its way for long
	}
	given.run, given.count = asked.Run, asked.Count
	if given.circle != asked.Circle {
		given.at = time.Time{}
	}
	if there && asked.Circle == said.Circle && q.speaks(now) && !q.bound(asked.Line, said.Circle, now) {
		given.at, given.circle = now, said.Circle
		said.Granted = true
	}
	if asked.Leaving {
		given.at = time.Time{}
	}
	if _, known := q.given[asked.Line]; !known && there {
		q.forget(now)
	}
	if _, known := q.given[asked.Line]; known || there { // one that is not there was granted nothing
		q.given[asked.Line] = given
	}
	return json.Marshal(said)
}

// forget drops what agents were granted that are not there any more, when it binds nothing. The caller holds mu.
func (q *quorum) forget(now time.Time) {
	there := linesOf(q.peers.seam.Peers())
	maps.DeleteFunc(q.given, func(line string, g promise) bool {
		return !slices.Contains(there, line) && (g.at.IsZero() || now.Sub(g.at) >= quorumTakeover)
	})
}

// The sets that an agent may say were agreed on: a few are in use at a time, each of all agents.
const (
	setsMost     = 64
	setLinesMost = 1024
)

// plausible says that sets could be those of an agent.
func (a agreement) plausible() bool {
	if len(a) > setsMost {
		return false
	}
	for _, set := range a {
		if len(set.Lines) > setLinesMost || slices.ContainsFunc(set.Lines, func(line string) bool { return line == "" || len(line) > lineMost }) {
			return false
		}
	}
	return true
}

// bound says that somebody may hold another circle by what this agent has granted.
func (q *quorum) bound(but string, circle uint64, now time.Time) bool {
	for line, g := range q.given {
		if line != but && !g.at.IsZero() && g.circle != circle && now.Sub(g.at) < quorumTakeover {
			return true
		}
	}
	return false
}

// askAll asks everybody who is there, unless an answer is waited for.
func (q *quorum) askAll(ctx context.Context) {
	there := q.peers.seam.Peers()
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, peer := range there {
		line := peer.line()
		if line == q.self || q.waiting[line] {
			continue
		}
		q.waiting[line] = true
		q.count++
		b := ballot{Line: q.self, Circle: q.circle.hash(), Leaving: q.leaving, Run: q.run, Count: q.count, Have: q.votes[line].SetsID}
		q.asking.Go(func() { q.ask(ctx, peer, &b) })
	}
}

// ask asks one, and notes what it says. What it grants is counted from the moment of the question.
func (q *quorum) ask(ctx context.Context, peer Peer, b *ballot) {
	asked := time.Now()
	said, err := q.exchange(ctx, peer, b)
	line := peer.line()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting[line] = false
	if err != nil {
		if errors.Is(err, ErrLetter) && !q.deaf[line] {
			q.deaf[line] = true
			q.peers.say.Warn("another agent does not know of majorities: give --quorum to all agents of a crawl, or to none", "agent", peer.ID, "error", err)
		}
		return
	}
	v := q.votes[line]
	sets := v.Sets
	if said.SetsID != v.SetsID {
		sets = said.Sets
	}
	v.ballot, v.at = *said, asked
	v.Sets = sets
	if said.Granted {
		v.granted, v.circle = asked, b.Circle
	}
	q.votes[line] = v
	poke(q.wake)
}

// exchange puts the question.
func (q *quorum) exchange(ctx context.Context, peer Peer, b *ballot) (*ballot, error) {
	question, err := json.Marshal(b)
	if err != nil {
		panic("BUG: engine: a ballot: " + err.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, quorumPatience)
	defer cancel()
	raw, err := q.peers.seam.Ask(ctx, peer.ID, append([]byte{questionBallot}, question...))
	if err != nil {
		return nil, err
	}
	said := new(ballot)
	if err := json.Unmarshal(raw, said); err != nil {
		return nil, fmt.Errorf("%w: a ballot of %q: %w", ErrLetter, peer.ID, err)
	}
	if !said.Sets.plausible() {
		return nil, fmt.Errorf("%w: a ballot of %q with sets that nobody can have agreed on", ErrLetter, peer.ID)
	}
	if said.Line != peer.line() || said.SetsID != b.Have && said.Sets.id() != said.SetsID {
		return nil, fmt.Errorf("engine: a ballot of %q that is not its own", peer.ID)
	}
	return said, nil
}
