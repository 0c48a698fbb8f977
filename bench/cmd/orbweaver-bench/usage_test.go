package main

import (
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/bench/components"
	"orbweaver/internal/cli/command"
)

func TestList(t *testing.T) {
	r := call("list").want(t, command.ExitDone)
	names := []string{"throughput", "frontier"}
	for _, c := range components.Table() {
		command, _, _ := strings.Cut(c.Name, " ")
		names = append(names, command)
	}
	for _, name := range names {
		if !strings.Contains("\n"+r.out, "\n"+name+"\t") {
			t.Errorf("%s is not in %q", name, r.out)
		}
	}
}

func TestUsage(t *testing.T) {
	for line, word := range map[string]string{
		"throughput --host-delay often": `--host-delay: "often" is no duration`,
		"agents --agents 2,x":           `--agents: "x" is no whole number`,
		"agents --program nowhere":      "--program: stat nowhere",
		"thruput":                       "Try 'orbweaver-bench --help'",
		"sim --hostile H999":            "H999",
	} {
		call(strings.Fields(line)...).want(t, command.ExitUsage, "orbweaver-bench: ", word)
	}
}

// A benchmark removes no directory that it has not made.
func TestBenchmarksRemoveNothingOfOthers(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "thesis.txt"), "")
	for _, name := range []string{"throughput", "soak", "frontier", "hostile", "fetchers", "cores"} {
		call(name, "--dir", dir).want(t, command.ExitUsage, "--dir", "give another directory")
	}
}

func TestSim_listsHostileCases(t *testing.T) {
	if r := call("sim", "--hostile", "list").want(t, command.ExitDone); !strings.Contains(r.out, "H01  ") {
		t.Errorf("no case H01:\n%s", r.out)
	}
}

func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	for _, line := range strings.Split(call("list").want(t, command.ExitDone).out, "\n") {
		name, _, named := strings.Cut(line, "\t")
		if !named {
			continue
		}
		r := call(name, "--help").want(t, command.ExitDone)
		_, example, _ := strings.Cut(r.out, "Example")
		if !strings.HasPrefix(r.out, "Usage: orbweaver-bench "+name) || !strings.Contains(example, "orbweaver-bench "+name) {
			t.Errorf("%s --help lacks its usage or an example:\n%s", name, r.out)
		}
	}
}
