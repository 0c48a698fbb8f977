package main

import (
	"errors"
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/cli/command"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
)

// gossipPort is a free address of loopback, for UDP and TCP, and so is the port
// after it.
func gossipPort(t *testing.T) string {
	t.Helper()
	for range 50 {
		l, err := net.Listen("tcp", freePort(t))
		if err != nil {
			continue
		}
		at := l.Addr().(*net.TCPAddr)
		next, err := net.ListenTCP("tcp", &net.TCPAddr{IP: at.IP, Port: at.Port + 1})
		u, uerr := net.ListenUDP("udp", &net.UDPAddr{IP: at.IP, Port: at.Port})
		_ = l.Close()
		if err == nil {
			_ = next.Close()
		}
		if uerr == nil {
			_ = u.Close()
		}
		if err == nil && uerr == nil {
			return at.String()
		}
	}
	t.Fatal("no two free ports beside each other")
	return ""
}

// once checks that the archives together have each page of the web once.
func (w *web) once(t *testing.T, dirs ...string) {
	t.Helper()
	times := map[string]int{}
	for _, dir := range dirs {
		err := captures.Each(vfs.Disk(), dir+"/warc", func(c judge.Capture) {
			if c.Status == 200 && !strings.HasSuffix(c.URL, "/robots.txt") {
				times[c.URL]++
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for url, n := range times {
		if n != 1 {
			t.Errorf("%s is there %d times", url, n)
		}
	}
	if int64(len(times)) != w.pages {
		t.Errorf("%d pages, the web has %d", len(times), w.pages)
	}
}

// agent gives the arguments of one agent of a crawl of the web; join is the first one's gossip.
func (w *web) agent(dir, name, at, join string, more ...string) []string {
	return w.crawl(dir, 50*time.Millisecond, append([]string{"--agent", name, "--gossip", at, "--join", join}, more...)...)
}

// peers is what a report says of the agents.
func peers(t *testing.T, dir string) map[string]any {
	t.Helper()
	p, ok := readReport(t, dir)["cluster"].(map[string]any)
	if !ok {
		t.Fatalf("report.json has no peers: %v", readReport(t, dir))
	}
	return p
}

// share has two processes crawl the web together, and judges what they have.
func (w *web) share(t *testing.T, first, second []string, one, other string) {
	t.Helper()
	a, saidA := child(t, first...)
	b, saidB := child(t, second...)
	if err := errors.Join(a.Wait(), b.Wait()); err != nil {
		t.Fatalf("%v\nfirst:\n%s\nsecond:\n%s", err, saidA, saidB)
	}
	w.once(t, one, other)
	sent, received := int64(0), int64(0)
	for _, dir := range []string{one, other} {
		m, p := readReport(t, dir), peers(t, dir)
		balanced(t, m)
		if m["state"] != "finished" || number(t, m, "pages_stored") == 0 || number(t, p, "urls_waiting") != 0 {
			t.Errorf("%s: %v", dir, m)
		}
		if number(t, p, "messages_sent") == 0 || number(t, p, "links_to_other_hosts") < number(t, p, "links_sent") ||
			number(t, p, "bytes_sent") == 0 {
			t.Errorf("%s: %v", dir, p)
		}
		sent, received = sent+number(t, p, "links_sent"), received+number(t, p, "links_received")
		call("fsck", "--quiet", dir).want(t, command.ExitDone)
	}
	if sent == 0 || sent != received {
		t.Errorf("%d links sent, %d received", sent, received)
	}
}

func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// next is the address for messages of an agent without --agent-listen.
func next(t *testing.T, gossip string) string {
	t.Helper()
	a, err := netip.ParseAddrPort(gossip)
	if err != nil {
		t.Fatal(err)
	}
	return netip.AddrPortFrom(a.Addr(), a.Port()+1).String()
}

// A table and metrics show the agents that are there, while agents join and leave.
func TestPeersOfARunningCrawl(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	here, there := gossipPort(t), gossipPort(t)
	one, other := filepath.Join(dir, "1"), filepath.Join(dir, "2")
	first, said := child(
		t,
		w.crawl(one, 3*time.Second, "--agent", "a1", "--agent-plain", "--gossip", here, "--agents", "2")...)
	second, said2 := child(
		t,
		w.crawl(
			other, 3*time.Second, "--agent", "a2", "--agent-plain", "--gossip", there, "--join", here, "--agents", "2",
			"--capacity", "3",
		)...)
	soon(t, "both agents", func() bool {
		r := call("ctl", "agents", "--dir", one)
		return r.code == command.ExitDone && strings.Contains(r.out, "a2 ") && strings.Count(r.out, "alive") == 2 &&
			strings.Contains(r.out, "75.")
	})
	metrics := metricsOf(t, one)
	for _, name := range []string{
		"# TYPE orbweaver_cluster_links_sent_total counter",
		`orbweaver_cluster_agents{state="alive"} 2`, `orbweaver_cluster_agents{state="dead"} 0`,
		`orbweaver_cluster_share{agent="a2"} 0.7`, `orbweaver_cluster_urls_waiting{agent="a2"} `,
		"\norbweaver_cluster_overhead ", "\norbweaver_cluster_lambda ",
		"\norbweaver_cluster_unknown_senders_refused_total ",
		`orbweaver_cluster_statements_refused_total{agent="a2"} 0`,
		`orbweaver_cluster_messages_over_quota_total{agent="a2"} 0`,
	} {
		if !strings.Contains(metrics, name) {
			t.Errorf("/metrics lacks %q:\n%s", name, metrics)
		}
	}
	for i, dir := range []string{other, one} {
		call("ctl", "stop", "--dir", dir).want(t, command.ExitDone)
		cmd := []*exec.Cmd{second, first}[i]
		_ = cmd.Wait() // the status is looked at below
		if code := cmd.ProcessState.ExitCode(); code != command.ExitStopped {
			t.Fatalf("exit status %d:\n%s\n%s", code, said, said2)
		}
		if i == 0 {
			soon(t, "an agent that has left", func() bool {
				return strings.Contains(call("ctl", "agents", "--dir", one).out, "left")
			})
		}
	}
	if r := call("ctl", "agents", "--dir", t.TempDir()); r.code != command.ExitFailed ||
		!strings.Contains(r.err, "no crawl is running there") {
		t.Errorf("%+v", r)
	}
}

// A crawl with one agent cannot leave.
func TestACrawlAloneDoesNotLeave(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	done := make(chan result, 1)
	go func() { done <- call(w.crawl(dir, time.Second)...) }()
	soon(t, "pages", func() bool {
		r := call("ctl", "status", "--dir", dir, "--json")
		return r.code == command.ExitDone && number(t, r.object(t), "pages_stored") >= 1
	})
	call("ctl", "leave", "--dir", dir).want(t, command.ExitFailed, "no other agents", "stop")
	call("ctl", "stop", "--dir", dir).want(t, command.ExitDone)
	<-done
}

// All that is wrong with the flags of an agent is told at once, with what to do.
func TestAgentFlags(t *testing.T) {
	dir := t.TempDir()
	call("ca", "init", "--dir", dir).want(t, command.ExitDone)
	call("ca", "issue", "a1", "--dir", dir).want(t, command.ExitDone)
	file := filepath.Join(dir, "a1.agent")
	base := []string{
		"crawl", "--dir", filepath.Join(dir, "c"), "--proxy", "http://127.0.0.1:9", "--resolver", "hashed",
		"http://a.test/",
	}
	for _, c := range []struct {
		args  string
		words []string
	}{
		{"--agent a1", []string{"--agent-file: an agent needs its file, which 'orbweaver ca issue' makes; or --agent-plain"}},
		{
			"--agent a2 --agent-file " + file,
			[]string{"--agent-file: ", "is the file of agent a1", "give --agent a1, or the file of a2"},
		},
		{"--agent a1 --agent-file " + file + " --agent-plain", []string{"--agent-plain: with --agent-file"}},
		{"--agent a1 --agent-file missing --gossip here --join 192.0.2.1 --capacity 0 --agents 0", []string{
			"missing: no such file", `--gossip: "here" is no HOST:PORT`, `--join: "192.0.2.1" is no HOST:PORT`,
			"--capacity: 0", "--agents: 0"}},
		{
			"--agent ../a --agent-plain --gossip host.example:7",
			[]string{"--agent: the name", `--gossip: "host.example:7": give an address`},
		},
		{
			"--agent a1 --agent-plain --gossip 192.0.2.1:7946",
			[]string{"192.0.2.1:7946: without certificates agents talk on loopback alone", "orbweaver ca init"},
		},
		{
			"--agent a1 --agent-plain --join 192.0.2.1:7946",
			[]string{"--gossip: the agent at 192.0.2.1:7946 cannot reach 127.0.0.1:7946"},
		},
		{
			"--agent a1 --gossip 0.0.0.0:7946 --agent-file " + file,
			[]string{"0.0.0.0:7946: the others must be able to reach it"},
		},
		{
			"--agent a1 --agent-plain --gossip 127.0.0.1:65535",
			[]string{"--agent-listen: there is no port after that of --gossip"},
		},
		{
			"--agent a1 --agent-plain --quorum --gossip 127.0.0.1:7950 --join 127.0.0.1:7946",
			[]string{"--quorum: with --join, say by --agents how many agents begin the crawl"},
		},
		{"--quorum", []string{"--quorum: is for one of several agents"}},
		{
			"--join 127.0.0.1:7946 --agent-plain --agents 3",
			[]string{"--join: is for one of several agents", "--agent-plain: is for", "--agents: is for"},
		},
	} {
		call(append(base[:len(base):len(base)], strings.Fields(c.args)...)...).want(t, command.ExitUsage, c.words...)
	}
}
