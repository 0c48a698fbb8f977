package crawl

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
)

// grammar is that of a program with one command.
type grammar struct {
	command.Sources
	Crawl Command `cmd:""`
	Other struct {
		Hosts int `help:"A flag of another command."`
	} `cmd:""`
}

// parsed gives the crawl command as the arguments, variables and files make it.
func parsed(t *testing.T, args ...string) *Command {
	t.Helper()
	c, err := parseCrawl(
		&command.Invocation{Context: t.Context(), Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard},
		args...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func parseCrawl(w *command.Invocation, args ...string) (*Command, error) {
	g := grammar{Crawl: New()}
	return &g.Crawl, errors.Join(w.Parse(&g, args), w.ReadFaults(), w.ValueFaults())
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestStrength puts every source over the next weaker one: flag, variable, --config, crawl.toml, default.
func TestStrength(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "my.toml")
	args := []string{"crawl", "--dir", dir}
	delay := func(want time.Duration) {
		t.Helper()
		c := parsed(t, args...)
		if c.Config.Politeness.HostDelay != want {
			t.Errorf("host-delay is %v, want %v", c.Config.Politeness.HostDelay, want)
		}
		if c.Config.Politeness.IPDelay != 500*time.Millisecond {
			t.Errorf("ip-delay is %v", c.Config.Politeness.IPDelay)
		}
	}
	delay(4 * time.Second)
	write(t, filepath.Join(dir, layout.SettingsFile), "host-delay = '5s'\n")
	delay(5 * time.Second)
	write(t, config, "host-delay = '6s'\n")
	delay(5 * time.Second)
	t.Setenv("ORBWEAVER_CONFIG", config)
	delay(6 * time.Second)
	t.Setenv("ORBWEAVER_CONFIG", filepath.Join(dir, "none"))
	args = append(args, "--config", config)
	delay(6 * time.Second)
	t.Setenv("ORBWEAVER_HOST_DELAY", "7s")
	delay(7 * time.Second)
	args = append(args, "--host-delay", "8s")
	delay(8 * time.Second)
}

// TestDirectoryFromElsewhere finds crawl.toml when the directory itself comes from a variable or from a file.
func TestDirectoryFromElsewhere(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, layout.SettingsFile), "fetchers = 77\n")
	config := filepath.Join(t.TempDir(), "my.toml")
	write(t, config, "dir = '"+dir+"'\n")
	if c := parsed(t, "crawl", "--config", config); c.Config.Workers.Fetchers != 77 || !c.resumes || c.Config.Dir != dir {
		t.Errorf("by file: %+v", c)
	}
	t.Setenv("ORBWEAVER_DIR", dir)
	if c := parsed(t, "crawl"); c.Config.Workers.Fetchers != 77 || !c.resumes || c.Config.Dir != dir {
		t.Errorf("by variable: %+v", c)
	}
	if c := parsed(t, "crawl", "--dir", t.TempDir()); c.Config.Workers.Fetchers != 1024 || c.resumes {
		t.Errorf("a new directory: %+v", c)
	}
}

func TestKindsOfValues(t *testing.T) {
	config := filepath.Join(t.TempDir(), "my.toml")
	write(t, config, `
seeds = ["a,b.txt", "c.txt"]
allow-port = [8080, 8081]
resolver = "127.0.0.1:53"
fetchers = 1_000
max-disk = "1.5GiB"
json = true
hosts = 5 # a flag of another command
`)
	c := parsed(t, "crawl", "--config", config, "--max-depth", "-1", "--dir", t.TempDir())
	if !reflect.DeepEqual(c.Seeds, []string{"a,b.txt", "c.txt"}) ||
		!reflect.DeepEqual(c.AllowPort, []string{"8080", "8081"}) ||
		!reflect.DeepEqual(c.Resolver, []string{"127.0.0.1:53"}) {
		t.Errorf("lists: %q %q %q", c.Seeds, c.AllowPort, c.Resolver)
	}
	if c.Config.Workers.Fetchers != 1000 || c.Config.Limits.MaxDisk != 3<<29 || !c.JSON ||
		c.Config.Admission.MaxDepth != -1 {
		t.Errorf("values: %+v", c)
	}
	c = parsed(t, "crawl", "--seeds", "a,b.txt", "--seeds", "c.txt", "--dir", t.TempDir())
	if !reflect.DeepEqual(c.Seeds, []string{"a,b.txt", "c.txt"}) {
		t.Errorf("repeated flag: %q", c.Seeds)
	}
}
