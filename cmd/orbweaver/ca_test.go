package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/post/identity"
)

// An operator makes an authority and two agents, who are of one crawl and have one key of gossip; nobody else may read their files.
func TestCA_makesAgentsOfOneCrawl(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "ca")
	say := func(words string, args ...string) {
		t.Helper()
		if r := call(args...).want(t, exitDone); !strings.Contains(r.out, words) {
			t.Errorf("%v: %s", args, r.out)
		}
	}
	say("ca issue NAME --dir "+dir, "ca", "init", "--dir", dir)
	say("agent agent-1 of crawl ", "ca", "issue", "agent-1", "--dir", dir)
	call("ca", "issue", "agent-2", "--dir", dir, "--days", "7").want(t, exitDone)
	one, warnings, err := readIdentity(filepath.Join(dir, "agent-1.agent"), time.Now())
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	two, warnings, err := readIdentity(filepath.Join(dir, "agent-2.agent"), time.Now())
	if err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], "ca issue agent-2 --force") {
		t.Fatal(err, warnings)
	}
	if one.ID != "agent-1" || two.ID != "agent-2" || one.Crawl != two.Crawl || string(one.GossipKey) != string(two.GossipKey) {
		t.Errorf("%s of %s, %s of %s", one.ID, one.Crawl, two.ID, two.Crawl)
	}
	for _, name := range []string{caKey, "agent-1.agent", "agent-2.agent"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 4 {
		t.Errorf("beside the four files there is something: %v", left)
	}
	say("agent agent-1 of crawl "+one.Crawl, "ca", "show", filepath.Join(dir, "agent-1.agent"))
	if r := call("ca", "show", filepath.Join(dir, "agent-2.agent")).want(t, exitDone); !strings.Contains(r.err, "warning: the certificate of agent-2 ends in 6 days") {
		t.Error(r.err)
	}
}

// What is there is kept, unless somebody insists; then the new certificate is of a later generation.
func TestCA_replacesNothingUnasked(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.agent")
	call("ca", "init", "--dir", dir).want(t, exitDone)
	call("ca", "issue", "a", "--dir", dir).want(t, exitDone)
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"ca", "init", "--dir", dir}, {"ca", "issue", "a", "--dir", dir}} {
		if r := call(args...).want(t, exitFailed); !strings.Contains(r.err, "is there already: --force") {
			t.Error(r.err)
		}
	}
	if after, _ := os.ReadFile(file); string(after) != string(before) {
		t.Fatal("the file was replaced")
	}
	call("ca", "issue", "a", "--dir", dir, "--force").want(t, exitDone)
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if was, is := identity.GenerationIn(before), identity.GenerationIn(after); is <= was || was == 0 {
		t.Errorf("generation %d, then %d", was, is)
	}
	call("ca", "init", "--dir", dir, "--force").want(t, exitDone)
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
	expect(exitFailed, `make one ("orbweaver ca init --dir `, "ca", "issue", "a", "--dir", dir)
	expect(exitUsage, "want 1 to 36525", "ca", "init", "--dir", dir, "--days", "0")
	call("ca", "init", "--dir", dir).want(t, exitDone)
	expect(exitUsage, "want letters, digits", "ca", "issue", "../a", "--dir", dir)
	expect(exitUsage, "want 1 to 36525", "ca", "issue", "a", "--dir", dir, "--days", "1_000_000")
	call("ca", "issue", "a", "--dir", dir).want(t, exitDone)
	file := filepath.Join(dir, "a.agent")
	if err := os.Chmod(file, 0o640); err != nil { //nolint:gosec // it is to be readable
		t.Fatal(err)
	}
	if r := call("ca", "show", file).want(t, exitDone); !strings.Contains(r.err, "chmod 600") {
		t.Error(r.err)
	}
	if err := os.Truncate(file, 900); err != nil {
		t.Fatal(err)
	}
	expect(exitFailed, "no file of an agent", "ca", "show", file)
	write(t, filepath.Join(dir, caKey), "nonsense")
	expect(exitFailed, "its key", "ca", "issue", "b", "--dir", dir)
}
