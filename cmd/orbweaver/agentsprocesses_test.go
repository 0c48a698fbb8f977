//go:build scenario

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/cli/command"
)

// Two processes on one machine share a web: each page is fetched once, by one of them, and both end by themselves.
func TestTwoAgentsShareAWeb(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	here, there := gossipPort(t), gossipPort(t)
	one, other := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	w.share(t, w.agent(one, "a1", here, here, "--agent-plain", "--agents", "2"),
		w.agent(other, "a2", there, here, "--agent-plain", "--agents", "2"), one, other)
	if r := call("audit", one, other).want(t, command.ExitDone); !strings.Contains(r.out, "0 of them at several agents") ||
		!strings.Contains(r.out, "each page counts at one agent") {
		t.Errorf("the audit: %s", r.out)
	}
	if err := os.RemoveAll(filepath.Join(other, "frontier")); err != nil {
		t.Fatal(err)
	}
	if r := call("fsck", "--rebuild", "--quiet", other).want(t, command.ExitDone); !strings.Contains(
		r.out,
		"note: to the other agents this is a2 without its data",
	) {
		t.Errorf("the rebuild: %s", r.out)
	}
	call("audit", "--quiet", "--mark", one, other).want(t, command.ExitDone)
	call("audit", "--quiet", one, dir).want(t, command.ExitUsage, "not the crawl directory of one of several agents")
	call("audit", one, one).want(t, command.ExitUsage, "named twice")
	// What was given once is known when the crawl goes on, and it stays the one agent that it was.
	call("crawl", "--dir", one).want(t, command.ExitDone, "finished")
	call("crawl", "--dir", one, "--agent", "a3").want(
		t, command.ExitUsage, "--agent: the crawl in "+one+" is that of agent a1", "another --dir",
	)
	if r := call("ctl", "agents", "--dir", one).want(t, command.ExitDone); !strings.Contains(r.out, "a1*") ||
		!strings.Contains(r.out, "lambda = ") {
		t.Errorf("the last report: %s", r.out)
	}
}

// The same with certificates of the crawl's own. Two processes that are of another crawl, or of none, are refused at
// the door.
func TestG06_agentsWithoutAFileOfTheCrawlAreRefused(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	ours, theirs := filepath.Join(dir, "ours"), filepath.Join(dir, "theirs")
	for _, ca := range []string{ours, theirs} {
		call("ca", "init", "--dir", ca).want(t, command.ExitDone)
		for _, name := range []string{"a1", "a2", "a3"} {
			call("ca", "issue", name, "--dir", ca).want(t, command.ExitDone)
		}
	}
	here, there, elsewhere := gossipPort(t), gossipPort(t), gossipPort(t)
	first, said := child(
		t,
		w.agent(
			filepath.Join(dir, "1"), "a1", here, here, "--agent-file", filepath.Join(ours, "a1.agent"), "--agents", "2",
		)...)
	soon(t, "a1 waits", func() bool {
		r := call("ctl", "status", "--dir", filepath.Join(dir, "1"))
		return r.code == command.ExitDone && strings.Contains(r.out, "waiting for the other agents") &&
			strings.Contains(said.String(), "is known to the others")
	})
	refused := filepath.Join(dir, "3")
	call(
		w.agent(refused, "a3", elsewhere, here, "--agent-file", filepath.Join(theirs, "a3.agent"))...).want(t,
		command.ExitFailed, "other gossip key", "give all agents of a crawl files from one `orbweaver ca`")
	call(
		w.agent(filepath.Join(dir, "4"), "a3", elsewhere, here, "--agent-plain")...).want(t, command.ExitFailed,
		"other gossip key", "orbweaver ca")
	if m := readReport(t, refused); m["state"] != "stopped" ||
		number(t, m, "pages_stored")+number(t, m, "robots_fetched") != 0 {
		t.Errorf("the refused agent still counts: %v", m)
	}
	other := w.agent(
		filepath.Join(dir, "2"), "a2", there, here, "--agent-file", filepath.Join(ours, "a2.agent"), "--agents", "2",
		"--json",
	)
	call(other...).want(t, command.ExitDone)
	if err := first.Wait(); err != nil {
		t.Fatal(err, said)
	}
	w.once(t, filepath.Join(dir, "1"), filepath.Join(dir, "2"))
	// With a file of the right crawl the directory of the refused agent is good, and so is any other address.
	call(
		w.agent(refused, "a3", elsewhere, here, "--agent-file", filepath.Join(ours, "a3.agent"), "--max-pages", "1")...).want(
		t, command.ExitDone)
}

// A second process under a name that lives is refused before it sends a request, and the first does not
// notice.
func TestG04_aSecondAgentOfOneNameIsRefused(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	here, there := gossipPort(t), gossipPort(t)
	one, other := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	done := make(chan result, 1)
	go func() { done <- call(w.crawl(one, time.Second, "--agent", "a1", "--agent-plain", "--gossip", here)...) }()
	soon(t, "pages of the first", func() bool {
		r := call("ctl", "status", "--dir", one, "--json")
		return r.code == command.ExitDone && number(t, r.object(t), "pages_stored") >= 3
	})
	call(w.agent(other, "a1", there, here, "--agent-plain")...).want(t, command.ExitFailed,
		"cannot go on beside the others", "agent name in use", here, "choose another --agent, or stop that agent first")
	if m := readReport(t, other); m["state"] != "stopped" ||
		number(t, m, "pages_stored")+number(t, m, "robots_fetched") != 0 {
		t.Errorf("the second: %v", m)
	}
	r := call("ctl", "agents", "--dir", one, "--json").want(t, command.ExitDone)
	p := r.object(t)
	if agents, ok := p["agents"].([]any); !ok || len(agents) != 1 || p["self"] != "a1" {
		t.Errorf("agents of the first: %s", r.out)
	}
	call(
		"crawl", "--dir", filepath.Join(dir, "3"), "--proxy", w.proxy, "--resolver", "hashed", "--agent", "a3",
		"--agent-plain", "--gossip", there, "--agent-listen",
		strings.Replace(here, port(here), port(next(t, here)), 1), w.roots[0],
	).want(t, command.ExitFailed, "listening for messages on", "does another agent run here?")
	call("ctl", "stop", "--dir", one).want(t, command.ExitDone)
	if r := <-done; r.code != command.ExitStopped {
		t.Errorf("the first: %+v", r)
	}
}

// One of two agents leaves permanently, with exit status 0. The other does not wait for it, and fetches no page that it
// had.
func TestAnAgentLeavesForGood(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	here, there := gossipPort(t), gossipPort(t)
	one, other := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	call("ctl", "leave", "--dir", one).want(t, command.ExitUsage, "no such directory")
	first, said := child(
		t,
		w.crawl(one, 200*time.Millisecond, "--agent", "a1", "--agent-plain", "--gossip", here, "--agents", "2")...)
	second, said2 := child(
		t,
		w.crawl(
			other, 200*time.Millisecond, "--agent", "a2", "--agent-plain", "--gossip", there, "--join", here, "--agents", "2",
		)...)
	soon(t, "some pages of both", func() bool {
		for _, dir := range []string{one, other} {
			if r := call("ctl", "status", "--dir", dir, "--json"); r.code != command.ExitDone ||
				number(t, r.object(t), "pages_stored") < 5 {
				return false
			}
		}
		return true
	})
	call("ctl", "leave", "--dir", one).want(t, command.ExitDone, "leaving permanently")
	if err := errors.Join(first.Wait(), second.Wait()); err != nil {
		t.Fatalf("%v\nfirst:\n%s\nsecond:\n%s", err, said, said2)
	}
	w.once(t, one, other)
	m := readReport(t, one)
	balanced(t, m)
	if m["state"] != "finished" || m["reason"] != "left permanently: the other agents have everything" ||
		number(t, m, "urls_queued") != 0 {
		t.Errorf("%v", m)
	}
	call("fsck", "--quiet", one).want(t, command.ExitDone)
	call("crawl", "--dir", one).want(t, command.ExitDone, "left permanently")
}
