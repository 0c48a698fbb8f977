package main

import (
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// commands lists every command and group of commands.
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
		r := call(append(path, "--help")...).want(t, exitDone)
		if r.err != "" {
			t.Errorf("%s --help writes to stderr: %s", name, r.err)
		}
		_, example, _ := strings.Cut(r.out, "Example")
		if !strings.HasPrefix(r.out, "Usage: "+name) || !strings.Contains(example, " "+name+" ") && !strings.Contains(example, " "+name+"\n") {
			t.Errorf("%s --help lacks its usage or an example:\n%s", name, r.out)
		}
		if !strings.Contains(r.out, "--config=FILE") {
			t.Errorf("%s --help does not show --config:\n%s", name, r.out)
		}
	}
}

func TestHelpShowsDefaults(t *testing.T) {
	out := strings.Join(strings.Fields(call("crawl", "-h").want(t, exitDone).out), " ")
	for _, word := range []string{"[4s]", "[500ms]", "[1024]", "[./crawl]", "[2MiB]", "[1GiB]", "[30s]", "[1h]", "[7d]"} {
		if !strings.Contains(out, word) {
			t.Errorf("crawl --help lacks %q", word)
		}
	}
}

func TestVersion(t *testing.T) {
	if r := call("version").want(t, exitDone); r.out != "orbweaver "+version+"\n" {
		t.Errorf("%q", r.out)
	}
}

func TestBenchList(t *testing.T) {
	r := call("bench", "list").want(t, exitDone)
	for _, name := range []string{"vitro", "sieve", "cache"} {
		if !strings.Contains("\n"+r.out, "\n"+name+"\t") {
			t.Errorf("%s is not in %q", name, r.out)
		}
	}
}
