package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/logreport"
	"orbweaver/internal/cli/command"
)

// eachFlag visits every flag that --help shows.
func eachFlag(t *testing.T, visit func(command *kong.Node, f *kong.Flag)) {
	t.Helper()
	parser, err := kong.New(new(cli))
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			if !f.Hidden {
				visit(n, f)
			}
		}
		for _, child := range n.Children {
			if !child.Hidden {
				walk(child)
			}
		}
	}
	walk(parser.Model.Node)
}

// The page of a command has all of its flags, and those of the commands within it.
func TestMan_everyFlagIsOnAPage(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "man1")
	call("man", dir).want(t, command.ExitDone)
	eachFlag(t, func(n *kong.Node, f *kong.Flag) {
		words := strings.Fields(n.FullPath())
		words[0] = "orbweaver" // the parser of this test has the name of the test program
		name := strings.Join(words[:min(len(words), 2)], "-") + ".1"
		page, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if flag := `\fB` + strings.ReplaceAll("--"+f.Name, "-", `\-`) + `\fR`; !strings.Contains(string(page), flag) {
			t.Errorf("%s lacks --%s", name, f.Name)
		}
	})
	if pages, err := filepath.Glob(filepath.Join(dir, "*")); len(pages) < 15 || err != nil {
		t.Errorf("%d pages, %v", len(pages), err)
	}
}

// The shell offers what a command knows: settings that can be changed, and reports behind the directory.
func TestComplete_offersSettingsAndReports(t *testing.T) {
	complete := func(words ...string) string {
		t.Helper()
		return call(append([]string{"complete", "--"}, words...)...).want(t, command.ExitDone).out
	}
	if got := complete("ctl", "set", "host-d"); !strings.HasPrefix(got, "host-delay=\tTime between two requests") {
		t.Errorf("ctl set host-d: %q", got)
	}
	settings := complete("ctl", "--dir", "c", "set", "")
	for _, name := range append(changes.Names(), "log-level") {
		if !strings.Contains("\n"+settings, "\n"+name+"=\t") {
			t.Errorf("ctl set does not offer %s", name)
		}
	}
	reports := complete("report", "crawl", "")
	for _, kind := range logreport.Kinds() {
		if !strings.Contains(reports, string(kind)+"\t\n") {
			t.Errorf("report crawl does not offer %s:\n%s", kind, reports)
		}
	}
	if got := complete("report", ""); strings.TrimSpace(got) != "" {
		t.Errorf("in place of a directory: %q", got)
	}
	if got := complete("report", "crawl", "hosts", "er"); got != "errors\t\n" {
		t.Errorf("a second report: %q", got)
	}
}

// Each command with a result has it as JSON, too.
func TestJSON_ofSmallCommands(t *testing.T) {
	dir := t.TempDir()
	call("ca", "init", "--dir", dir).want(t, command.ExitDone)
	call("ca", "issue", "a1", "--dir", dir).want(t, command.ExitDone)
	robots := filepath.Join(dir, "robots.txt")
	writeFile(t, robots, "User-agent: *\nDisallow: /no\n")
	for _, c := range []struct {
		line, stdin string
		want        map[string]any
	}{
		{"version --json", "", map[string]any{"version": version}},
		{"ca show --json " + filepath.Join(dir, "a1.agent"), "", map[string]any{"agent": "a1"}},
		{"url normalize --json", "HTTP://A.test/./b", map[string]any{"url": "http://a.test/b"}},
		{"url normalize --json", "b", map[string]any{"line": "b", "error": "relative URL without a base"}},
		{"robots test --json --robots " + robots, "http://a.test/no", map[string]any{"allowed": false, "line": 2.0}},
		{"botpage --json --operator O --description D --mail a@b.test", "", map[string]any{"mail": "a@b.test"}},
	} {
		got := callWith(c.stdin, strings.Fields(c.line)...).want(t, command.ExitDone).object(t)
		for key, value := range c.want {
			if got[key] != value {
				t.Errorf("%s: %s is %v, want %v", c.line, key, got[key], value)
			}
		}
	}
}

// The page of the file of settings has each setting.
func TestMan_everySettingIsOnThePageOfTheFile(t *testing.T) {
	dir := t.TempDir()
	call("man", dir).want(t, command.ExitDone)
	page, err := os.ReadFile(filepath.Join(dir, "crawl.toml.5"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(call("sample-config").want(t, command.ExitDone).out) {
		name, _, isKey := strings.Cut(strings.TrimPrefix(line, "#"), " = ")
		key := `\fB` + strings.ReplaceAll(name, "-", `\-`) + `\fR`
		if isKey && !strings.HasPrefix(line, "# ") && !strings.Contains(string(page), key) {
			t.Errorf("the page lacks %s", name)
		}
	}
}

// The sample has every setting of a crawl. With all of them set, the crawl has its defaults.
func TestSampleConfig_setsTheDefaults(t *testing.T) {
	sample := call("sample-config").want(t, command.ExitDone).out
	eachFlag(t, func(n *kong.Node, f *kong.Flag) {
		perRun := " help config dry-run depth json refresh "
		if n.Name == "crawl" && !strings.Contains(perRun, " "+f.Name+" ") && !strings.Contains(sample, "\n#"+f.Name+" = ") {
			t.Errorf("the sample lacks %s", f.Name)
		}
	})
	for line := range strings.Lines(sample) {
		if len(line) > 300 || !strings.HasPrefix(line, "#") && line != "\n" {
			t.Errorf("the sample has the line %q", line)
		}
	}
	settings := func(extra ...string) string {
		t.Helper()
		dir := filepath.Join(t.TempDir(), "crawl")
		args := append([]string{"crawl", "--dir", dir, "--progress", "none", "--allow-net", "127.0.0.0/8"}, extra...)
		r := call(append(args, "--max-time", "1s", "http://127.0.0.1:9/")...)
		text, err := os.ReadFile(filepath.Join(dir, "crawl.toml"))
		if err != nil {
			t.Fatalf("%v; the crawl said %s", err, r.err)
		}
		return string(text)
	}
	file := filepath.Join(t.TempDir(), "all.toml")
	all := regexp.MustCompile(`(?m)^#([a-z0-9-]+ = )`).ReplaceAllString(sample, "$1")
	if err := os.WriteFile(file, []byte(all), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := settings("--config", file), settings(); got != want {
		t.Errorf("with the sample:\n%s\nwithout:\n%s", got, want)
	}
}

// Each shell has its script. The scripts call a command that exists.
func TestCompletion(t *testing.T) {
	for shell, sign := range map[string]string{
		"bash": "complete -o bashdefault", "zsh": "#compdef orbweaver", "fish": "complete -c orbweaver",
	} {
		if out := call("completion", shell).want(t, command.ExitDone).out; !strings.Contains(out, sign) ||
			!strings.Contains(out, " complete -- ") {
			t.Errorf("%s: %s", shell, out)
		}
	}
	call("completion", "tcsh").want(t, command.ExitUsage)
	for last, want := range map[string]string{
		"--progress=": "--progress=auto\t\n", "--prog": "--progress\t", "--scope=h": "--scope=host\t\n",
	} {
		out := call("complete", "--", "crawl", last).want(t, command.ExitDone).out
		if !strings.HasPrefix(out, want) {
			t.Errorf("%s: candidates %q", last, out)
		}
	}
}
