package engine

import (
	"slices"
	"time"
)

// here are those of the circle among some who are there to stay. The caller holds mu.
func (q *quorum) here(there []Peer, now time.Time) (lines []string) {
	for _, peer := range there {
		line := peer.line()
		v := q.votes[line]
		leaving := q.leaving
		if line != q.self {
			leaving = v.Leaving && ageOf(now, v.at) < quorumProof
		}
		if !leaving && q.circle.has(peer) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}

// agree brings those who are there nearer to being those who are agreed on: first each of them notes them, then each sees that all have.
func (q *quorum) agree() error {
	there := q.peers.seam.Peers()
	next := q.agreeable(there)
	if next == nil {
		return nil
	}
	if err := writeQuorum(q.fs, q.dir, next); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if now := q.noting(there, time.Now()); now.id() == next.id() { // and nobody was granted anything meanwhile that stands against it
		q.sets = next
	}
	return nil
}

// agreeable is what this agent can note now; nil if that is nothing new.
func (q *quorum) agreeable(there []Peer) agreement {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.noting(there, time.Now())
}

// noting is what can be noted. The caller holds mu.
func (q *quorum) noting(there []Peer, now time.Time) agreement {
	if !q.held {
		return nil
	}
	ages, sets := q.yes(now)
	here := q.here(there, now)
	if _, all := unanimous(here).proven(ages); !all {
		return nil
	}
	if sets[0].N == 0 { // it begins
		sets = nil
	}
	next := q.sets.with(sets.formed())
	mine, set := next.last(here), sets.last(here)
	switch {
	case set != nil && set.Formed:
	case set != nil && mine != nil && mine.N == set.N:
		if q.noted(set, sets, ages) {
			next = next.with(agreement{{N: set.N, Lines: here, Formed: true}})
		}
	case q.beholden(here, now):
	case set != nil:
		next = next.with(agreement{*set})
	default:
		next = next.with(agreement{{N: sets.next(), Lines: here}})
	}
	if next.id() == q.sets.id() {
		return nil
	}
	return next
}

// beholden says that one who is not among some may fetch by what this agent has granted: it may not be agreed that it is no agent of the crawl
// before that is over. The caller holds mu.
func (q *quorum) beholden(lines []string, now time.Time) bool {
	for line, g := range q.given {
		if !g.at.IsZero() && now.Sub(g.at) < quorumTakeover && !slices.Contains(lines, line) {
			return true
		}
	}
	return false
}

// noted says that all of a set have noted it, and a majority of all that have a say. The caller holds mu.
func (q *quorum) noted(set *agreed, sets agreement, ages map[string]time.Duration) bool {
	has := make(map[string]time.Duration)
	for line := range ages {
		noted := q.sets
		if line != q.self {
			noted = q.votes[line].Sets
		}
		if slices.ContainsFunc(noted, func(s agreed) bool { return s.N == set.N && slices.Equal(s.Lines, set.Lines) }) {
			has[line] = 0
		}
	}
	_, most := sets.proven(has)
	_, all := unanimous(set.Lines).proven(has)
	return most && all
}
