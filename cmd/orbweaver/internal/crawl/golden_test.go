package crawl

import (
	"bytes"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pelletier/go-toml/v2"

	"orbweaver/engine/cluster/network"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/peering/identity"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/golden"
)

// A directory whose crawl.toml has former names of flags resumes with its values.
func TestGolden_formerConfiguration(t *testing.T) {
	text := golden.Read(t, "crawl-1.toml", "6e2af660fdf40164ce774b55a6288cb5c88fb2c63469f1108e288cb361471abd")
	text = bytes.Replace(text, []byte("agent-away = '10m'"), []byte("agent-away = '7m'"), 1)
	text = append(text, "post = '127.0.0.1:7999'\n"...)
	dir := t.TempDir()
	if err := os.WriteFile(effectiveFile(dir), text, 0o600); err != nil {
		t.Fatal(err)
	}
	w := &command.Invocation{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	c, err := parseCrawl(w, "crawl", "--dir", dir)
	if err != nil {
		t.Fatal(err)
	}
	if c.Config.Cluster.AgentAway != 7*time.Minute || c.Config.Seen.MemoryBytes != 192<<20 ||
		c.AgentListen != "127.0.0.1:7999" {
		t.Errorf("%v, %d, %q", c.Config.Cluster.AgentAway, c.Config.Seen.MemoryBytes, c.AgentListen)
	}
}

// A crawl that was begun without page requisites and speculative links stays so, unless flags ask for them.
func TestGolden_anOlderCrawlFetchesWhatItDid(t *testing.T) {
	dir := t.TempDir()
	text := golden.Read(t, "crawl-2.toml", "2e47ab0b99569bff6c6088899be1db6e81b44e620f0f28143a75c7b3153e541f")
	if err := os.WriteFile(effectiveFile(dir), text, 0o600); err != nil {
		t.Fatal(err)
	}
	c := parsed(t, "crawl", "--dir", dir).Config.Admission
	if c.Requisites != admission.RequisitesOff || c.Speculative != admission.SpeculativeOff {
		t.Errorf("resumed: %+v", c)
	}
	c = parsed(t, "crawl", "--dir", dir, "--requisites", "all", "--speculative", "on").Config.Admission
	if c.Requisites != admission.RequisitesAll || c.Speculative != admission.SpeculativeOn {
		t.Errorf("with flags: %+v", c)
	}
	c = parsed(t, "crawl", "--dir", t.TempDir()).Config.Admission
	if c.Requisites != admission.RequisitesAll || c.Speculative != admission.SpeculativeOn {
		t.Errorf("a new crawl: %+v", c)
	}
}

// A crawl.toml of an earlier version is read without a mistake, and what this version writes has all its keys.
func TestGolden_configuration(t *testing.T) {
	dir := t.TempDir()
	w := &command.Invocation{Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard}
	c, err := parseCrawl(w, "crawl", "--dir", dir, "--contact", "https://example.org/bot", "http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.writeEffective(w); err != nil {
		t.Fatal(err)
	}
	written, err := os.ReadFile(effectiveFile(c.Config.Dir))
	if err != nil {
		t.Fatal(err)
	}
	if golden.Writing() {
		golden.Add(t, "crawl-2.toml", written)
	}
	text := golden.Read(t, "crawl-2.toml", "2e47ab0b99569bff6c6088899be1db6e81b44e620f0f28143a75c7b3153e541f")
	if err := configured(t.TempDir(), text); err != nil {
		t.Error(err)
	}
	golden.Contains(t, keys(t, written), keys(t, text))
	for _, line := range []string{
		"\nmax-pages = 0\n", "\nmax-depth = -1\n", "\nhost-delay = '4s'\n", "\nscope = 'domain'\n",
	} {
		if !strings.Contains(string(written), line) {
			t.Errorf("crawl.toml lacks %q:\n%s", line, written)
		}
	}
}

func keys(t *testing.T, text []byte) []string {
	t.Helper()
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(maps.Keys(values))
}

// The generations of certificates are written as they were, and read as they were.
func TestGolden_generations(t *testing.T) {
	dir := t.TempDir()
	o := network.Options{Identity: &identity.Identity{Crawl: "0123abcd"}}
	if err := keepGenerations(&o, dir); err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{"agent-1": 7, "agent-2": 1}
	if err := o.SaveGenerations(want); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, generationsName)
	written, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	const sum = "1acdb6d8a056dfc24e1557af16feefc8d73013dd7759876bc9a674ee9dda70ac"
	if err := os.WriteFile(name, golden.Compare(t, "generations-1.json", sum, written), 0o600); err != nil {
		t.Fatal(err)
	}
	o.Generations = nil
	if err := keepGenerations(&o, dir); err != nil || !maps.Equal(o.Generations, want) {
		t.Errorf("%v, %v", o.Generations, err)
	}
}
