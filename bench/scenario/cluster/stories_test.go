package cluster

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"orbweaver/bench/scenario/story"
	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/internal/simnet"
	"orbweaver/internal/vfs"
)

// The verbs of stories of several agents, in place of those of one crawl. Agents have numbers; 0,1 are a PART.
//
//	agents N [begin=M] [quorum] [gossip=TIME]   after the web: they share a crawl, which M begin
//	start all|N...|back [new]    back: those that any has ended; new: on an empty disk
//	stop, leave N...             in order; permanently: leave returns at once, and end waits for it
//	kill N|any [power|lost]      any: one at random, which is back then; nothing if it has ended
//	lose N                       kill it, with its disk; after 8 s the others take it for dead
//	forget N                     the others take it for dead now
//	end [all|N...] [STATE]       wait for their ends
//	cut PART [PART [oneway]]     connections from one part to the other; of one part: to the web
//	heal [PART PART]             connections, and after 3 s membership
//	notice                       membership learns of the connections
//	hide PART from PART          membership of the second does not have the first
//	delay TIME                   of each message
func TestStories(t *testing.T) {
	story.Run(t, "testdata", story.Verbs{
		"agents": makeAgents, "start": with(startAgents), "stop": with(stopAgents), "leave": with(leaveAgents),
		"kill": with(killAgent), "lose": with(loseAgents), "forget": with(forgetAgents), "end": with(endAgents),
		"cut": with(cutAgents), "heal": with(healAgents), "notice": with(noticeLinks), "hide": with(hideAgents),
		"delay": with(delayMessages),
	})
}

// told is a cluster that a story tells of.
type told struct {
	*testCluster
	s       *story.Story
	running map[string]*agent
	back    []string       // agents that "any" has ended
	had     map[string]int // pages of lost agents
	since   time.Time      // the story began
}

func with(verb func(c *told, words []string)) story.Verb {
	return func(s *story.Story, words []string) { verb(s.Vars["cluster"].(*told), words) }
}

// names are agents by their numbers, which are words or parts of a word.
func (c *told) numbered(words ...string) (names []string) {
	for _, word := range words {
		for _, n := range strings.Split(word, ",") {
			if n == "all" {
				names = append(names, c.names...)
			} else if n != "" {
				names = append(names, "agent-"+n)
			}
		}
	}
	return names
}

func makeAgents(s *story.Story, words []string) {
	n, _ := strconv.Atoi(words[0])
	b := newTestCluster(s.T, s.World, n)
	c := &told{testCluster: b, s: s, running: map[string]*agent{}, had: map[string]int{}, since: time.Now()}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "begin":
			b.least, _ = strconv.Atoi(value)
		case "quorum":
			b.quorum = true
		case "gossip":
			d, _ := time.ParseDuration(value)
			b.delayGossip(s.World.Seed, d)
		default:
			s.Fatalf("agents have no %s", name)
		}
	}
	b.change = func(name string, cfg *engine.Config, seams *engine.Seams) {
		if s.Hosts != nil {
			b.rig.Seeds = s.Hosts.Seeds
			cfg.Seeds, cfg.Fetch.Proxy = testbed.Seeds(s.Hosts.Seeds), nil
			cfg.Intervals.Sync, cfg.Intervals.Report, cfg.Intervals.Checkpoint = time.Second, time.Minute, 5*time.Minute
			s.Hosts.Connect(seams, name)
		}
		s.Configure(cfg)
	}
	s.Vars["cluster"], s.Rig, s.More = c, b.rig, c.values
}

func startAgents(c *told, words []string) {
	isNew := slices.Contains(words, "new")
	names := c.numbered(slices.DeleteFunc(words, func(word string) bool { return word == "new" || word == "back" })...)
	for _, name := range append(names, c.back...) {
		if isNew {
			c.disks[name] = vfs.NewMem(uint64(100 + len(c.running)))
		}
		if !slices.Contains(c.names, name) {
			c.names = append(c.names, name)
		}
		c.running[name] = c.start(c.t.Context(), name)
	}
	c.back = nil
}

func stopAgents(c *told, words []string) {
	for _, name := range c.numbered(words...) {
		c.running[name].stop()
	}
	for _, name := range c.numbered(words...) {
		<-c.running[name].done
	}
}

func leaveAgents(c *told, words []string) {
	for _, name := range c.numbered(words...) {
		if err := c.running[name].leave(c.t.Context()); err != nil {
			c.s.Fatalf("%v", err)
		}
	}
}

func killAgent(c *told, words []string) {
	names := c.numbered(words[0])
	if words[0] == "any" {
		names = []string{c.names[c.s.Rand.IntN(len(c.names))]}
		if c.hasEnded(names[0]) {
			return
		}
		c.back = names
	}
	for _, name := range names {
		kills, _ := c.s.Vars["kills"].(int)
		c.s.Vars["kills"] = kills + 1
		c.running[name].kill(c.s.Death(words[1:]))
		c.forgive(name)
	}
}

func (c *told) hasEnded(name string) bool {
	select {
	case <-c.running[name].done:
		return true
	default:
		return false
	}
}

func loseAgents(c *told, words []string) {
	for _, name := range c.numbered(words...) {
		c.had[name] = c.loseAgent(c.running[name])
		c.names = slices.DeleteFunc(c.names, func(other string) bool { return other == name })
		c.forgive(name)
	}
}

func forgetAgents(c *told, words []string) {
	for _, name := range c.numbered(words...) {
		c.hub.remove(c.running[name].endpoint)
	}
}

func endAgents(c *told, words []string) {
	want := "finished"
	if n := len(words); n > 0 && strings.Trim(words[n-1], "0123456789,") != "" && words[n-1] != "all" {
		want, words = words[n-1], words[:n-1]
	}
	names := c.names
	if len(words) > 0 {
		names = c.numbered(words...)
	}
	for _, name := range names {
		select {
		case <-c.running[name].done:
		case <-time.After(5 * time.Hour):
			c.s.Fatalf("%s does not end: %+v", name, c.running[name].report())
		}
		r, err := c.final(name), c.finalErr(name)
		if err != nil || want != "any" && string(r.State) != want {
			c.s.Errorf("%s is %s (%s), %d pages, %v", name, r.State, r.Reason, r.PagesStored, err)
		}
		testbed.CheckConservation(c.t, r)
	}
}

func cutAgents(c *told, words []string) {
	one := c.numbered(words[0])
	if len(words) == 1 {
		for _, name := range one {
			c.running[name].net.SetProxy(simnet.Refused)
		}
		return
	}
	other := c.numbered(words[1])
	c.hub.setBroken(one, other, true)
	if len(words) == 2 {
		c.hub.setBroken(other, one, true)
	}
}

func healAgents(c *told, words []string) {
	if len(words) == 0 {
		c.repair()
		return
	}
	one, other := c.numbered(words[0]), c.numbered(words[1])
	c.hub.setBroken(one, other, false)
	c.hub.setBroken(other, one, false)
}

func noticeLinks(c *told, _ []string) { c.hub.updateMembership(c.names) }

func hideAgents(c *told, words []string) {
	c.hub.setSeen(c.numbered(words[2]), c.numbered(words[0]), false)
}

func delayMessages(c *told, words []string) {
	d, _ := time.ParseDuration(words[0])
	c.hub.latency = func() time.Duration { return d }
}

// values are what a condition may ask of agents: agent(N) is its report, of(N...) are requests, lost are pages of lost
// agents, inFlight is what may be fetched again after a kill. whole(N) says that every page was fetched, at most N were
// fetched again, and all delays were kept; left(N) that nothing of an agent is left behind.
func (c *told) values(env map[string]any) {
	lost := 0
	for _, n := range c.had {
		lost += n
	}
	env["lost"], env["inFlight"], env["messages"] = lost, c.config("").Workers.Fetchers, c.hub.sent()
	env["judge"] = c.judge
	env["polite"] = func() bool { return !impolite(c.judge()) }
	env["whole"] = func(repeated int) bool {
		v := c.judge()
		is := v.Coverage == 1 && v.Missing+v.AttemptsMissing == 0 && v.Repeated <= repeated && !impolite(v)
		if !is {
			v.Print(c.t.Output())
		}
		return is
	}
	env["agent"] = func(n int) report.Report { return c.report(n) }
	env["left"] = func(n int) bool { c.wantLeft(fmt.Sprintf("agent-%d", n)); return !c.t.Failed() }
	env["hasEnded"] = func(n int) bool { return c.hasEnded(fmt.Sprintf("agent-%d", n)) }
	env["had"] = func(n int) int { return c.pages(fmt.Sprintf("agent-%d", n)) }
	env["sum"] = func(outcome string) (n int) {
		for _, name := range c.names {
			n += int(c.final(name).Outcomes[outcome])
		}
		return n
	}
	env["of"] = func(part string, from, to float64) int {
		return c.requests(c.numbered(part), c.at(from), c.at(to))
	}
	env["takeover"] = func(by, from string, after float64) float64 {
		return c.takeoverTime(c.numbered(by), c.numbered(from), c.at(after)).Seconds()
	}
	env["repeatedAfter"] = func(at float64) int { return c.repeatedAfter(c.at(at)) }
	env["breaches"] = func(part string) int {
		names := c.numbered(part)
		return c.countImpolite(func(agent string) string { return fmt.Sprint(slices.Contains(names, agent)) })
	}
}

func (c *told) report(n int) report.Report { return c.running[fmt.Sprintf("agent-%d", n)].report() }

func (c *told) at(seconds float64) time.Time {
	return c.since.Add(time.Duration(seconds * float64(time.Second)))
}
