package main

import (
	"os"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/golden"
)

// commands lists every command and group of commands that --help shows.
func commands(t *testing.T) (paths [][]string) {
	t.Helper()
	parser, err := kong.New(new(cli))
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *kong.Node, path []string)
	walk = func(n *kong.Node, path []string) {
		paths = append(paths, path)
		for _, child := range n.Children {
			if child.Hidden {
				continue
			}
			walk(child, append(path[:len(path):len(path)], child.Name))
		}
	}
	walk(parser.Model.Node, nil)
	return paths
}

func TestEveryCommandHasHelpWithAnExample(t *testing.T) {
	paths := commands(t)
	if len(paths) < 22 {
		t.Fatalf("only %d commands: %v", len(paths), paths)
	}
	for _, path := range paths {
		name := strings.Join(append([]string{"orbweaver"}, path...), " ")
		r := call(append(path, "--help")...).want(t, command.ExitDone)
		if r.err != "" {
			t.Errorf("%s --help writes to stderr: %s", name, r.err)
		}
		_, example, _ := strings.Cut(r.out, "Example")
		if !strings.HasPrefix(r.out, "Usage: "+name) ||
			!strings.Contains(example, " "+name+" ") && !strings.Contains(example, " "+name+"\n") {
			t.Errorf("%s --help lacks its usage or an example:\n%s", name, r.out)
		}
		if !strings.Contains(r.out, "--config=FILE") {
			t.Errorf("%s --help does not show --config:\n%s", name, r.out)
		}
	}
}

// namesFile has every command with its flags, as --help shows them. Scripts rely on these names.
const namesFile = "testdata/flags.txt"

// A name that scripts rely on neither goes nor comes unseen. With -golden.write the file is written again.
func TestGolden_commandsAndFlags(t *testing.T) {
	flags := map[string]string{}
	eachFlag(t, func(n *kong.Node, f *kong.Flag) {
		_, path, _ := strings.Cut(n.FullPath(), " ")
		flags[path] += " --" + f.Name
	})
	var b strings.Builder
	for _, path := range commands(t) {
		name := strings.Join(path, " ")
		b.WriteString(name + ":" + flags[name] + "\n")
	}
	want, err := os.ReadFile(namesFile)
	if golden.Writing() {
		err = os.WriteFile(namesFile, []byte(b.String()), 0o644)
	} else if b.String() != string(want) {
		t.Errorf("commands or flags are not those of %s (go test -golden.write writes it): got\n%s", namesFile, b.String())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// The table of the README has a place for every command of --help, and for nothing else.
func TestReadmeListsEveryCommand(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| command | does |")
	table, _, _ = strings.Cut(table, "\n\n")
	if !found {
		t.Fatal("the README has no table of commands")
	}
	listed := map[string]bool{}
	for _, row := range strings.Split(table, "\n")[2:] {
		cell, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " |")
		for _, command := range strings.Split(cell, "`, `") {
			name, rest, _ := strings.Cut(strings.Trim(command, "`"), " ")
			if rest == "" || strings.ToUpper(rest) == rest { // DIR, FILE
				listed[name] = true
				continue
			}
			for _, child := range strings.Split(rest, ", ") {
				listed[name+" "+child] = true
			}
		}
	}
	paths := commands(t)
	for i, path := range paths {
		name := strings.Join(path, " ")
		isGroup := i+1 < len(paths) && len(paths[i+1]) > len(path)
		if !isGroup && !listed[name] {
			t.Errorf("the README's table lacks the command %q", name)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("the README's table has %q, which is no command", name)
	}
}

func TestHelpShowsDefaults(t *testing.T) {
	out := strings.Join(strings.Fields(call("crawl", "--help=all").want(t, command.ExitDone).out), " ")
	for _, word := range []string{"[4s]", "[500ms]", "[1024]", "[./crawl]", "[1GiB]", "[30s]", "[1h]", "[7d]"} {
		if !strings.Contains(out, word) {
			t.Errorf("crawl --help lacks %q", word)
		}
	}
}

// A newcomer finds a flag or a command by its heading.
func TestEachFlagAndCommandHasAHeading(t *testing.T) {
	parser, err := kong.New(new(cli), kong.ExplicitGroups(append(crawl.Groups(), commandGroups()...)))
	if err != nil {
		t.Fatal(err)
	}
	for _, leaf := range parser.Model.Leaves(true) {
		if group := leaf.ClosestGroup(); group == nil || !strings.HasSuffix(group.Title, ":") {
			t.Errorf("%s has no heading in commandGroups", leaf.Path())
		}
		if leaf.Name != "crawl" {
			continue
		}
		for _, f := range leaf.Flags {
			if f.Name != "help" && (f.Group == nil || !strings.HasSuffix(f.Group.Title, ":")) {
				t.Errorf("crawl --%s has no heading in crawl.Groups", f.Name)
			}
		}
	}
}
