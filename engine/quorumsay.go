package engine

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// tell says what the gate and the log are to be told: why nothing is fetched; "" if it is.
func (q *quorum) tell(now time.Time) {
	why, short := q.why(now)
	g := q.peers.gate
	if why != q.shut {
		if why != "" {
			g.Shut(why)
		}
		if q.shut != "" {
			g.Open(q.shut)
		}
		q.shut = why
	}
	if short != q.told {
		q.told = short
		if short {
			q.peers.say.Warn(why + ": nothing is fetched until more do")
		} else {
			q.peers.say.Info("a majority of the agents of this crawl answer again")
		}
	}
}

// why says why nothing may be fetched; short says that too few answer.
func (q *quorum) why(now time.Time) (why string, short bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.holds(q.circle) {
		return "", false
	}
	here, sets := map[string]time.Duration{q.self: 0}, q.sets
	for line, v := range q.votes {
		if ageOf(now, v.at) < quorumProof {
			here[line] = 0
			sets = sets.with(v.Sets)
		}
	}
	if len(sets) == 0 {
		return quorumBegins, false
	}
	if _, most := sets.proven(here); most {
		return quorumSoon, false
	}
	var silent []string
	for _, s := range sets {
		for _, line := range s.Lines {
			if _, answers := here[line]; !answers && !slices.Contains(silent, nameOf(line)) {
				silent = append(silent, nameOf(line))
			}
		}
	}
	slices.Sort(silent)
	return fmt.Sprintf("fewer than a majority of the agents of this crawl answer: not %s", strings.Join(silent, ", ")), !q.proved.IsZero() || q.speaks(now)
}

// Why nothing is fetched while nobody has begun, and while a majority is there.
const (
	quorumBegins = waitingForAgents + ", to begin with them"
	quorumSoon   = "the agents of this crawl agree on who they are"
)

// nameOf is the agent of a line.
func nameOf(line string) string {
	name, _, _ := strings.Cut(line, "/")
	return name
}

// report is what the operator is told.
func (q *quorum) report(now time.Time) *QuorumReport {
	if q == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	r := &QuorumReport{Majority: q.holds(q.circle), Grounded: q.grounded, Answer: []string{nameOf(q.self)}}
	for line, v := range q.votes {
		if ageOf(now, v.at) < quorumProof {
			r.Answer = append(r.Answer, nameOf(line))
		}
	}
	slices.Sort(r.Answer)
	for _, s := range q.sets.formed() {
		for _, line := range s.Lines {
			r.Agreed = append(r.Agreed, nameOf(line))
		}
	}
	return r
}
