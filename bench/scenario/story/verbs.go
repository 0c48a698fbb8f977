package story

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/operate/report"
	"orbweaver/internal/simnet"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// crawlVerbs are the verbs of a crawl with one agent.
func crawlVerbs() Verbs {
	return Verbs{
		"web": web, "host": addHosts, "set": set, "start": start, "end": end, "run": runToEnd, "stop": stop, "kill": kill,
		"wait": wait, "let": let, "expect": expect, "change": change, "pause": pause, "resume": pause, "cut": cut,
		"heal": cut, "repeat": repeat, "fill": fill, "rebuild": rebuild,
		"lines": lines, "rows": reportRows,
	}
}

// crawl is a running crawl.
type crawl struct {
	cfg    engine.Config
	engine *engine.Engine
	done   chan error
}

// web is the verb "web": plain, faulty or today, and fields of simweb.Config as NAME=VALUE. The web is small unless
// these say otherwise. The field Seed is the seed of the story unless it is given.
func web(s *Story, words []string) {
	kinds := map[string]func() simweb.Config{"plain": simweb.Plain, "faulty": simweb.Faulty, "today": simweb.Today}
	kind := kinds[words[0]]
	seed, proxy := uint64(s.Vars["seed"].(int)), true
	switch {
	case words[0] == "skewed":
		s.World = testbed.SkewedWorld(seed)
	case kind == nil:
		s.Fatalf("there is no web %s", words[0])
	default:
		s.World = testbed.SmallWorld(seed, kind())
	}
	for _, word := range words[1:] {
		name, value, _ := strings.Cut(word, "=")
		switch name {
		case "direct":
			proxy = false
		case "many":
			s.World = testbed.ManyHosts(s.World.Seed, kind())
		case "copies":
			s.World = testbed.CopiesWorld(s.World.Seed)
		default:
			if err := testbed.SetField(&s.World, name, fmt.Sprint(s.Eval(value))); err != nil {
				s.Fatalf("%v", err)
			}
		}
	}
	s.Rig = testbed.MustRig(s.T, s.World, proxy)
}

// set is the verb "set": settings of the runs that start later. A setting has the name of its flag, or its path in
// engine.Config.
func set(s *Story, words []string) { s.Sets = append(s.Sets, words...) }

// Configure applies the settings of the story to a configuration.
func (s *Story) Configure(c *engine.Config) {
	s.T.Helper()
	for _, word := range s.Sets {
		name, value, _ := strings.Cut(word, "=")
		var err error
		switch name {
		case "proxy":
			c.Fetch.Proxy = &fetch.Proxy{URL: "http://" + value, Addr: netip.MustParseAddrPort(value)}
		case "seeds":
			c.Seeds = testbed.Seeds(strings.FieldsFunc(value, func(r rune) bool { return r == ',' }))
		case "metadata":
			testbed.AllMetadata(c)
		default:
			err = testbed.Assign(c, word)
		}
		if err != nil {
			s.Fatalf("%s: %v", word, err)
		}
	}
}

// config is the configuration of the crawl.
func (s *Story) config() engine.Config {
	s.T.Helper()
	if s.Rig == nil {
		s.Rig = testbed.MustRig(s.T, testbed.SmallWorld(1, simweb.Plain()), false)
	}
	if s.Hosts != nil {
		s.Rig.Seeds = s.Hosts.Seeds
	}
	c := s.Rig.Config()
	if s.Hosts != nil { // days of virtual time cost less this way
		c.Intervals.Sync, c.Intervals.Report, c.Intervals.Checkpoint = time.Second, time.Minute, time.Minute
	}
	s.Configure(&c)
	return c
}

// Connect gives an engine the hosts of the story.
func (w *Hosts) Connect(seams *engine.Seams, agent string) {
	seams.Dialer, seams.Resolver = w.Dialer(agent), w
	seams.Allowed = func(netip.AddrPort) error { return nil }
}

// start is the verb "start": the crawl begins, or goes on.
func start(s *Story, words []string) {
	cfg := s.config()
	seams := s.Rig.Seams(s.Rig.FS)
	if s.Hosts != nil {
		s.Hosts.Connect(&seams, "")
	}
	e, err := engine.Open(cfg, seams)
	if len(words) > 0 && err != nil && strings.Contains(err.Error(), words[0]) {
		return // the story says so
	}
	if err != nil {
		s.Fatalf("%v", err)
	}
	s.crawl = &crawl{cfg: cfg, engine: e, done: make(chan error, 1)}
	c := s.crawl
	go func() { c.done <- e.Run(s.T.Context()) }()
}

// end is the verb "end": the crawl must end by itself within forty days, in a state: finished unless it is given.
func end(s *Story, words []string) {
	c := s.crawl
	if c == nil {
		s.Fatalf("no crawl is running")
	}
	var err error
	select {
	case err = <-c.done:
	case <-time.After(40 * 24 * time.Hour):
		s.Errorf("it does not end: %+v", c.engine.Report())
		c.engine.Operator().Stop()
		err = <-c.done
	}
	s.finish(err)
	want := "finished"
	if len(words) > 0 {
		want = words[0]
	}
	if string(s.ended.State) != want {
		s.Errorf("it is %s: %s, outcomes %v", s.ended.State, s.ended.Reason, s.ended.Outcomes)
	}
}

// finish closes a crawl that has ended in order.
func (s *Story) finish(err error) {
	s.T.Helper()
	c := s.crawl
	s.crawl, s.ended = nil, c.engine.Report()
	if err = errors.Join(err, c.engine.Close()); err != nil {
		s.Errorf("the run ended with: %v", err)
	}
	if s.Hosts != nil {
		s.Hosts.open.Wait()
	}
	testbed.CheckConservation(s.T, s.ended)
}

// close ends what a story leaves behind.
func (s *Story) close() {
	if s.crawl != nil {
		s.crawl.engine.Abort()
		_ = errors.Join(<-s.crawl.done, s.crawl.engine.Close()) // the story has ended
	}
	if s.Rig != nil {
		_ = s.Rig.Net.Close() // the same
	}
	if s.Hosts != nil {
		s.Hosts.open.Wait()
	}
}

// runToEnd is the verb "run": start and end. With the word "hourly" the crawl is run again an hour after each stall.
func runToEnd(s *Story, words []string) {
	stalls := 0
	for len(words) > 0 && words[0] == "hourly" {
		start(s, nil)
		s.finish(<-s.crawl.done)
		if s.Vars["stalls"] = stalls; s.ended.State == "finished" {
			return
		}
		if s.ended.State != "stalled" {
			s.Fatalf("it is %s: %s", s.ended.State, s.ended.Reason)
		}
		if stalls++; s.ended.URLsQueued == 0 || s.ended.Outcomes["given-up"] > 0 || stalls > 100 {
			s.Fatalf("stalled %d times with %d queued: %v", stalls, s.ended.URLsQueued, s.ended.Outcomes)
		}
		testbed.Wait(time.Hour)
	}
	start(s, nil)
	end(s, words)
}

// stop is the verb "stop": the operator stops the crawl in order, unless it has finished. With a text the run must end
// with an error that has it.
func stop(s *Story, words []string) {
	s.crawl.engine.Operator().Stop()
	err := <-s.crawl.done
	if len(words) > 0 && err != nil && strings.Contains(err.Error(), words[0]) {
		err = nil
	} else if len(words) > 0 {
		s.Errorf("the run ended with: %v", err)
	}
	s.finish(err)
	if s.ended.State != "stopped" && s.ended.State != "finished" {
		s.Errorf("it is %s: %s", s.ended.State, s.ended.Reason)
	}
}

// Death is a way in which a process may end, by name.
func (s *Story) Death(words []string) testbed.Death {
	switch strings.Join(words, " ") {
	case "":
		return testbed.Sigkill
	case "power":
		return func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(s.Rand) }
	case "lost":
		return func(disk *vfs.Mem) *vfs.Mem { return disk.LostClone(1) }
	}
	s.Fatalf("there is no such end")
	return nil
}

// kill is the verb "kill": the process dies, and its disk is as SIGKILL leaves it. With "power" it is as a power cut
// leaves it. A crawl that has ended before stays as it is.
func kill(s *Story, words []string) {
	death := s.Death(words)
	c := s.crawl
	select {
	case err := <-c.done:
		s.finish(err)
		return
	default:
	}
	kills, _ := s.Vars["kills"].(int)
	s.Vars["kills"] = kills + 1
	dead := s.Rig.FS
	s.Rig.FS = death(dead)
	dead.SetLimit(-1) // it is not to wait for room
	if err := s.Rig.Net.Close(); err != nil {
		s.Errorf("%v", err)
	}
	c.engine.Abort()
	_ = errors.Join(<-c.done, c.engine.Close()) // it is dead
	s.crawl = nil
	s.Rig.Connect()
}

// wait is the verb "wait": for a time, or "until" a condition holds, within a day.
func wait(s *Story, words []string) {
	if words[0] != "until" {
		testbed.Wait(time.Duration(s.number(s.Text()) * float64(time.Second)))
		return
	}
	condition := strings.TrimPrefix(s.Text(), "until ")
	for began := time.Now(); s.Eval(condition) != true; testbed.Wait(time.Second) {
		if time.Since(began) > 24*time.Hour {
			s.Fatalf("it does not come true within a day")
		}
	}
}

// let is the verb "let": NAME = EXPRESSION.
func let(s *Story, words []string) {
	_, text, _ := strings.Cut(s.Text(), "=")
	s.Vars[words[0]] = s.Eval(text)
}

// change is the verb "change": the operator changes settings of the running crawl. With the last word "refused" the
// crawl must refuse them.
func change(s *Story, words []string) {
	name, value, _ := strings.Cut(words[0], "=")
	err := testbed.Set(s.T, s.crawl.engine, name, value)
	if refused := len(words) > 1; refused != (err != nil) {
		s.Errorf("%v", err)
	}
}

// pause is the verbs "pause" and "resume".
func pause(s *Story, _ []string) {
	if strings.HasPrefix(s.line.text, "pause") {
		s.crawl.engine.Operator().Pause()
	} else {
		s.crawl.engine.Operator().Resume()
	}
}

// cut is the verbs "cut" and "heal", for the network of a simulated web: WHAT [STATE]. WHAT is dns, proxy, local, all,
// or the number of a host. STATE is refused, reset or timeout. Alone, "heal" is for rules of hosts that see healed.
func cut(s *Story, words []string) {
	if len(words) == 0 {
		s.Hosts.healed.Store(true)
		return
	}
	state := simnet.Up
	if strings.HasPrefix(s.line.text, "cut") {
		how := cmp.Or(strings.Join(words[1:], " "), "refused")
		known := false
		state, known = map[string]simnet.State{
			"refused": simnet.Refused, "reset": simnet.Reset, "timeout": simnet.BlackHole,
		}[how]
		if !known && words[0] != "local" {
			s.Fatalf("there is no state %s", how)
		}
	}
	switch net := s.Rig.Net; words[0] {
	case "dns":
		net.SetDNS(state == simnet.Up)
	case "proxy":
		net.SetProxy(state)
	case "local":
		net.SetLocal(localFault(words[1:]))
		net.BreakOff()
	case "all":
		for h := range s.Rig.World.Hosts() {
			net.SetHost(s.Rig.World.Host(h), state)
		}
		net.SetDNS(state != simnet.BlackHole)
	default:
		net.SetHost(s.Rig.World.Host(int(s.number(words[0]))), state)
	}
}

// localFault is a fault of this machine, by the name of its number; nil for none.
func localFault(words []string) func() error {
	fault := map[string]error{
		"ENETUNREACH": syscall.ENETUNREACH, "EHOSTUNREACH": syscall.EHOSTUNREACH,
	}[strings.Join(words, "")]
	if fault == nil {
		return nil
	}
	return func() error { return fault }
}

// fill is the verb "fill": the disk has room for so many more bytes.
func fill(s *Story, words []string) {
	s.Rig.FS.SetLimit(s.Rig.FS.Used() + int64(s.number(words[0])))
}

// rebuild is the verb "rebuild": the frontier is made again from the archive, after it is lost with the word "lost".
func rebuild(s *Story, words []string) {
	if len(words) > 0 {
		testbed.RemoveTree(s.T, s.Rig.FS, "crawl/frontier")
		if _, err := fsck.Check(s.T.Context(), s.Rig.FS, "crawl", fsck.Options{}); !errors.Is(err, fsck.ErrNoCrawl) {
			s.Errorf("without a frontier: %v", err)
		}
	}
	s.Vars["rebuilt"] = testbed.Rebuild(s.T, s.Rig, s.config(), s.Rig.FS)
}

// Report is the report of the crawl: now, or at the end of its last run.
func (s *Story) Report() report.Report {
	if s.crawl != nil {
		return s.crawl.engine.Report()
	}
	return s.ended
}
