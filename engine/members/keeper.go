package members

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hashicorp/memberlist"
)

// viewPause is the least time between two Views, for each agent in them: a View has all of them, and when a thousand come at a time each of them
// would make a thousand.
const viewPause = 500 * time.Microsecond

// keep does what the callbacks of memberlist cannot: publishes Views, sends messages, and sees to our name.
func (g *Group) keep() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var last time.Time // when a View was published
	for {
		select {
		case <-g.ctx.Done():
			return
		case <-g.wake:
		case <-timer.C:
		}
		again, err := g.settle()
		if err != nil {
			g.lose(err)
			return
		}
		g.deliver()
		g.mu.Lock()
		dirty, pause := g.dirty, viewPause*time.Duration(len(g.roster.living))-time.Since(last)
		g.mu.Unlock()
		switch {
		case dirty && pause > 0:
			if again == 0 || pause < again {
				again = pause
			}
		case dirty:
			last = time.Now()
			g.publish()
		}
		if again > 0 {
			timer.Reset(again)
		}
	}
}

// deliver sends what waits. It is best effort: who needs an answer asks again.
func (g *Group) deliver() {
	g.mu.Lock()
	tell := g.tell
	g.tell = nil
	g.mu.Unlock()
	for _, t := range tell {
		_ = g.list.SendToAddress(memberlist.Address{Addr: t.to.String(), Name: t.name}, t.word.append(nil))
	}
}

// settle sees to it that the name is ours, or says whose it is. It wants to be called again after some time while it waits for an answer.
func (g *Group) settle() (again time.Duration, err error) {
	g.mu.Lock()
	self, rival := &g.roster.self, g.roster.rival()
	var announce, claimed bool
	switch {
	case self.stage == leaving:
	case rival != nil && (self.stage == member && rival.stage == member && rival.beats(self) ||
		self.stage == candidate && (rival.stage == member || rival.name < self.name)):
		// It may have died a moment ago. If it has, that will come out; if it has not, it answers.
		if g.heard && g.asked.name == rival.name {
			err = g.taken(rival)
		} else {
			again = g.knock(rival)
		}
	case self.stage == member && self.term <= g.roster.floors[self.agent.ID]:
		self.term, announce = g.roster.nextTerm(), true
		g.stats.Revived++
	case self.stage == candidate && g.learnt && len(g.roster.living) > 0: // who is alone has nobody to ask
		self.term, self.stage = g.roster.nextTerm(), member
		announce, claimed = true, true
	}
	g.mu.Unlock()
	if announce {
		_ = g.announce(time.Nanosecond) // it is queued, which is all that is wanted
	}
	if claimed {
		close(g.claimed)
	}
	return again, err
}

// knock asks a rival whether it lives, and again after each Probe. It returns when to look again.
func (g *Group) knock(rival *process) time.Duration {
	now, pause := time.Now(), g.o.Timings.Probe
	if g.asked.name != rival.name {
		g.asked, g.heard = asked{name: rival.name, nonce: rand.Uint64()}, false
	} else if since := now.Sub(g.asked.at); since < pause {
		return pause - since
	}
	g.asked.at = now
	g.tell = append(g.tell, tale{to: rival.agent.Gossip, name: rival.name,
		word: word{kind: knock, nonce: g.asked.nonce, name: rival.name, answer: g.roster.self.agent.Gossip}})
	return pause
}

func (g *Group) taken(rival *process) error {
	return fmt.Errorf("%w: an agent %q lives at %v (incarnation %d): give this one another --agent, or stop that one first",
		ErrName, rival.agent.ID, rival.agent.Gossip, rival.agent.Incarnation)
}

// lose ends the Group from inside. The others forget this process as they forget the dead, and it is in nobody's View.
func (g *Group) lose(err error) {
	g.mu.Lock()
	g.roster.self.stage = leaving
	g.mu.Unlock()
	_ = g.announce(time.Nanosecond)
	g.o.Log.Error("this agent is out of the group", "error", err)
	g.err = err
	close(g.lost)
}
