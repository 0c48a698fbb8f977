package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/cmd/orbweaver/internal/cluster"
	"orbweaver/engine/peering/identity"
	"orbweaver/internal/cli/command"
)

// An operator makes an authority and two agents of one crawl with one gossip key. Other users cannot read
// their files.
func TestCA_makesAgentsOfOneCrawl(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ca")
	say := func(words string, args ...string) {
		t.Helper()
		if r := call(args...).want(t, command.ExitDone); !strings.Contains(r.out, words) {
			t.Errorf("%v: %s", args, r.out)
		}
	}
	say("ca issue NAME --dir "+dir, "ca", "init", "--dir", dir)
	say("agent agent-1 of crawl ", "ca", "issue", "agent-1", "--dir", dir)
	call("ca", "issue", "agent-2", "--dir", dir, "--days", "7").want(t, command.ExitDone)
	one, warnings, err := cluster.ReadIdentity(filepath.Join(dir, "agent-1.agent"), time.Now())
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	two, warnings, err := cluster.ReadIdentity(filepath.Join(dir, "agent-2.agent"), time.Now())
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "ca issue agent-2 --force") {
		t.Fatal(err, warnings)
	}
	if one.ID != "agent-1" || two.ID != "agent-2" || one.Crawl != two.Crawl ||
		string(one.GossipKeys[0].Key) != string(two.GossipKeys[0].Key) {
		t.Errorf("%s of %s, %s of %s", one.ID, one.Crawl, two.ID, two.Crawl)
	}
	for _, name := range []string{"ca.key", "agent-1.agent", "agent-2.agent"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 4 {
		t.Errorf("beside the four files there is something: %v", left)
	}
	say("agent agent-1 of crawl "+one.Crawl, "ca", "show", filepath.Join(dir, "agent-1.agent"))
	if r := call("ca", "show", filepath.Join(dir, "agent-2.agent")).want(t, command.ExitDone); !strings.Contains(
		r.err,
		"warning: the certificate of agent-2 ends in 6 days",
	) {
		t.Error(r.err)
	}
}

// What is there is kept, unless --force is given; then the new certificate is of a later generation.
func TestCA_replacesNothingUnasked(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.agent")
	call("ca", "init", "--dir", dir).want(t, command.ExitDone)
	call("ca", "issue", "a", "--dir", dir).want(t, command.ExitDone)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ca", "init", "--dir", dir}, {"ca", "issue", "a", "--dir", dir}} {
		if r := call(args...).want(t, command.ExitFailed); !strings.Contains(r.err, "is there already: --force") {
			t.Error(r.err)
		}
	}
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Fatal("the file was replaced")
	}
	call("ca", "issue", "a", "--dir", dir, "--force").want(t, command.ExitDone)
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if was, is := identity.GenerationIn(before), identity.GenerationIn(after); is <= was || was == 0 {
		t.Errorf("generation %d, then %d", was, is)
	}
	call("ca", "init", "--dir", dir, "--force").want(t, command.ExitDone)
}

// Mistakes are told with what to do.
func TestCA_saysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	expect := func(code int, words string, args ...string) {
		t.Helper()
		if r := call(args...).want(t, code); !strings.Contains(r.err, words) {
			t.Errorf("%v: %s", args, r.err)
		}
	}
	expect(command.ExitFailed, `make one ("orbweaver ca init --dir `, "ca", "issue", "a", "--dir", dir)
	expect(command.ExitUsage, "want 1 to 36525", "ca", "init", "--dir", dir, "--days", "0")
	call("ca", "init", "--dir", dir).want(t, command.ExitDone)
	expect(command.ExitUsage, "want letters, digits", "ca", "issue", "../a", "--dir", dir)
	expect(command.ExitUsage, "want 1 to 36525", "ca", "issue", "a", "--dir", dir, "--days", "1_000_000")
	call("ca", "issue", "a", "--dir", dir).want(t, command.ExitDone)
	file := filepath.Join(dir, "a.agent")
	if err := os.Chmod(file, 0o640); err != nil { //nolint:gosec // it is to be readable
		t.Fatal(err)
	}
	if r := call("ca", "show", file).want(t, command.ExitDone); !strings.Contains(r.err, "chmod 600") {
		t.Error(r.err)
	}
	if err := os.Truncate(file, 900); err != nil {
		t.Fatal(err)
	}
	expect(command.ExitFailed, "no file of an agent", "ca", "show", file)
	writeFile(t, filepath.Join(dir, "ca.key"), "nonsense")
	expect(command.ExitFailed, "its key", "ca", "issue", "b", "--dir", dir)
}

// The gossip key is changed in three steps. Each can be repeated. ca.key and the files of all agents have the
// same keys after each, the certificates stay, and a step out of turn is refused.
func TestCA_changesTheGossipKeyInThreeSteps(t *testing.T) {
	dir := t.TempDir()
	call("ca", "init", "--dir", dir).want(t, command.ExitDone)
	call("ca", "issue", "a", "--dir", dir).want(t, command.ExitDone)
	call("ca", "issue", "b", "--dir", dir).want(t, command.ExitDone)
	before, _, err := cluster.ReadIdentity(filepath.Join(dir, "a.agent"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	call("ca", "gossip-key", "use", "--dir", dir).want(
		t, command.ExitFailed, "no new gossip key was added", "the steps are add, use, remove",
	)
	call("ca", "gossip-key", "begin", "--dir", dir).want(t, command.ExitUsage, "add, use, remove")
	for i, step := range []struct{ name, keys string }{
		{"add", "gossip key 1, and 2 is accepted"}, {"add", "gossip key 1, and 2 is accepted"},
		{"use", "gossip key 2, and 1 is accepted"}, {"use", "gossip key 2, and 1 is accepted"},
		{"remove", "gossip key 2\n"}, {"remove", "gossip key 2\n"},
	} {
		r := call("ca", "gossip-key", step.name, "--dir", dir).want(t, command.ExitDone)
		if strings.Count(r.out, step.keys) != 2 || !strings.Contains(r.out, "orbweaver ctl reload") {
			t.Errorf("step %d, %s: %s", i, step.name, r.out)
		}
		if step.name == "add" {
			call("ca", "gossip-key", "remove", "--dir", dir).want(t, command.ExitFailed, "is not used yet")
		}
		a, _, err := cluster.ReadIdentity(filepath.Join(dir, "a.agent"), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if identity.Generation(a.Certificate.Leaf) != identity.Generation(before.Certificate.Leaf) {
			t.Errorf("step %d: the certificate is another one", i)
		}
	}
	call("ca", "issue", "c", "--dir", dir).want(t, command.ExitDone)
	c, _, err := cluster.ReadIdentity(filepath.Join(dir, "c.agent"), time.Now())
	if err != nil || len(c.GossipKeys) != 1 || c.GossipKeys[0].Number != 2 {
		t.Errorf("the file of a new agent: %+v, %v", c, err)
	}
}
