package command

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/alecthomas/kong"
	"github.com/pelletier/go-toml/v2"

	"orbweaver/internal/textfile"
)

// TOMLFile gives flags their values from a TOML file whose keys are the flags' names. An environment variable is
// stronger than the file, a flag stronger than both.
type TOMLFile struct {
	name   string
	values map[string]any
	mark   string // see KeptSettings
}

// ReadTOML reads a file. An error names the line.
func ReadTOML(name string) (*TOMLFile, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	if b, err = textfile.Decode(b); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return parseTOML(name, b)
}

func parseTOML(name string, b []byte) (*TOMLFile, error) {
	t := &TOMLFile{name: name, mark: MarkOf(b)}
	if err := toml.Unmarshal(b, &t.values); err != nil {
		var syntax *toml.DecodeError
		if errors.As(err, &syntax) {
			row, column := syntax.Position()
			return nil, fmt.Errorf("%s:%d:%d: %w", name, row, column, err)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// renamedFlags are the flags whose names changed after crawl directories were written with them.
func renamedFlags() map[string]string {
	return map[string]string{"agent-away": "agent-return-wait", "post": "agent-listen", "seen-memory": "dedup-memory"}
}

// defaultsBefore are the values of flags in crawls of versions that did not have them yet. The defaults of new crawls
// are others. A resumed crawl keeps what it was begun with.
func defaultsBefore() map[string]string {
	return map[string]string{"requisites": "off", "speculative": "off", "pdf-links": "off"}
}

// bringUpToDate makes the settings of an earlier run those of this version. A crawl writes all of its settings, so
// those that it lacks were not there. A file without a scope was written by hand.
func (t *TOMLFile) bringUpToDate() {
	t.rename()
	delete(t.values, trustFlag)
	if _, ok := t.values["scope"]; !ok {
		return
	}
	for flag, value := range defaultsBefore() {
		if _, ok := t.values[flag]; !ok {
			t.values[flag] = value
		}
	}
}

// rename gives settings of an earlier run the names that the flags have now. A current name in the file wins.
func (t *TOMLFile) rename() {
	for former, current := range renamedFlags() {
		value, ok := t.values[former]
		if !ok {
			continue
		}
		if _, ok := t.values[current]; !ok {
			t.values[current] = value
		}
		delete(t.values, former)
	}
}

// Text is the value of a key that holds text.
func (t *TOMLFile) Text(key string) (value string, ok bool) {
	value, ok = t.values[key].(string)
	return value, ok
}

// Texts are the elements of a key that holds a list of text. Text alone is a list of one.
func (t *TOMLFile) Texts(key string) (list []string) {
	switch value := t.values[key].(type) {
	case string:
		list = []string{value}
	case []any:
		for _, element := range value {
			if text, ok := element.(string); ok {
				list = append(list, text)
			}
		}
	}
	return Given(list)
}

// Given returns the elements of a list that are not empty. An empty one, as in --surts "", takes away the list that an
// earlier run was given.
func Given(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(element string) bool { return element == "" })
}

// flagKeys are the flags of all commands by name, and whether each may be a list.
func flagKeys(app *kong.Application) map[string]bool {
	keys := make(map[string]bool)
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			keys[f.Name] = keys[f.Name] || f.IsSlice()
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(app.Node)
	delete(keys, "help")
	delete(keys, "config")
	return keys
}

// keysFor are the flags of all commands. Where a flag of ctx's command has the name of another one, it decides whether
// the key may be a list.
func keysFor(ctx *kong.Context, all map[string]bool) map[string]bool {
	keys := maps.Clone(all)
	for _, f := range ctx.Flags() {
		if _, ok := keys[f.Name]; ok {
			keys[f.Name] = f.IsSlice()
		}
	}
	return keys
}

// check refuses keys that are no flag of any command, and values of a wrong shape, all of them at once.
func (t *TOMLFile) check(known map[string]bool) error {
	var bad Faults
	for _, key := range slices.Sorted(maps.Keys(t.values)) {
		list, ok := known[key]
		switch t.values[key].(type) {
		case map[string]any:
			bad.Add(t.name, fmt.Errorf("unknown table: %s; the keys are the names of the flags, without tables", key))
			continue
		case []any:
			if ok && !list {
				bad.Add(t.name, fmt.Errorf("%s: takes one value, not a list", key))
			} else if slices.ContainsFunc(t.values[key].([]any), isNested) {
				bad.Add(t.name, fmt.Errorf("%s: takes a list of values, without lists or tables in it", key))
				delete(t.values, key)
			}
		}
		if !ok {
			bad.Add(t.name, fmt.Errorf("unknown key: %s; the keys are the names of the flags%s", key,
				Suggestion(key, slices.Sorted(maps.Keys(known)))))
		}
	}
	return bad.Err()
}

// isNested says whether an element of a list is none that a flag can have.
func isNested(element any) bool {
	switch element.(type) {
	case []any, map[string]any:
		return true
	}
	return false
}

// plainText is a value as the command line has it. TOML has dates of its own.
func plainText(value any) string {
	if date, ok := value.(time.Time); ok {
		return date.Format(time.RFC3339)
	}
	return fmt.Sprint(value)
}

// Validate is part of kong.Resolver; check has been called before, since kong tells one mistake only.
func (*TOMLFile) Validate(*kong.Application) error { return nil }

// Resolve gives a flag its value, or nil.
func (t *TOMLFile) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	for _, env := range flag.Envs {
		if _, ok := os.LookupEnv(env); ok {
			return nil, nil //nolint:nilnil // kong's way to say: not from here
		}
	}
	switch v := t.values[flag.Name].(type) {
	case nil, map[string]any:
		return nil, nil //nolint:nilnil // kong's way to say: not from here
	case []any:
		if !flag.IsSlice() {
			return nil, nil //nolint:nilnil // told by check
		}
		list := make([]any, len(v)) // kong takes lists of what the flag holds: text
		for i, x := range v {
			list[i] = plainText(x)
		}
		return list, nil
	default:
		if flag.IsSlice() {
			return []any{plainText(v)}, nil
		}
		return plainText(v), nil
	}
}
