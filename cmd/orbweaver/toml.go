package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"
	"strings"

	"github.com/alecthomas/kong"
	"github.com/pelletier/go-toml/v2"
)

// tomlFile gives flags their values from a TOML file whose keys are the flags' names. An environment variable is
// stronger than the file, a flag stronger than both.
type tomlFile struct {
	name   string
	values map[string]any
}

// loadTOML is kong's way in for --config.
func loadTOML(r io.Reader) (kong.Resolver, error) {
	name := "configuration file"
	if f, ok := r.(*os.File); ok {
		name = f.Name()
	}
	return decodeTOML(name, r)
}

func readTOML(name string) (*tomlFile, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return decodeTOML(name, bytes.NewReader(b))
}

func decodeTOML(name string, r io.Reader) (*tomlFile, error) {
	t := &tomlFile{name: name}
	if err := toml.NewDecoder(r).Decode(&t.values); err != nil {
		var syntax *toml.DecodeError
		if errors.As(err, &syntax) {
			row, column := syntax.Position()
			return nil, fmt.Errorf("%s:%d:%d: %w", name, row, column, err)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// Validate refuses keys that are no flag of any command, all of them at once.
func (t *tomlFile) Validate(app *kong.Application) error {
	known := map[string]bool{}
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			known[f.Name] = true
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(app.Node)
	var unknown []string
	for key := range t.values {
		if !known[key] {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	sort.Strings(unknown)
	return fmt.Errorf("%s: unknown key: %s; the keys are the names of the flags", t.name, strings.Join(unknown, ", "))
}

// Resolve gives a flag its value, or nil.
func (t *tomlFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, env := range flag.Tag.Envs {
		if _, ok := os.LookupEnv(env); ok {
			return nil, nil //nolint:nilnil // kong's way to say: not from here
		}
	}
	v, ok := t.values[flag.Name]
	if !ok {
		return nil, nil //nolint:nilnil // kong's way to say: not from here
	}
	if list, ok := v.([]any); ok {
		parts := make([]string, len(list))
		for i, x := range list {
			parts[i] = kong.JoinEscaped([]string{fmt.Sprint(x)}, flag.Tag.Sep)
		}
		return strings.Join(parts, string(flag.Tag.Sep)), nil
	}
	return fmt.Sprint(v), nil
}
