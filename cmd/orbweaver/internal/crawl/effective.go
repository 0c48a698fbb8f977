package crawl

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"orbweaver/engine"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/textfile"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

func effectiveFile(dir string) string { return filepath.Join(dir, layout.SettingsFile) }

// sameFormat refuses on resume what would change the format on disk, the form of URLs that the crawl knows, or the
// meaning of a sum. A crawl that begins again knows no URLs and has no sums.
func (c *Command) sameFormat() error {
	t, err := command.ReadTOML(effectiveFile(c.Config.Dir))
	if err != nil {
		return nil //nolint:nilerr // a new crawl, or told elsewhere
	}
	var bad command.Faults
	is := c.Config.Archive.Compression.String()
	if was, ok := t.Text("warc-compression"); ok && was != is {
		bad.Add("--warc-compression", fmt.Errorf("the crawl in %s writes %s and cannot change to %s; "+
			"begin another in a new --dir", c.Config.Dir, was, is))
	}
	isNew := c.beginsAgain()
	if isNew && !c.Rebuilds {
		return bad.Err()
	}
	was, _ := t.Text("normal-form") // "" in an earlier version
	was, is = cmp.Or(was, urlx.WHATWG.String()), c.Config.Admission.NormalForm.String()
	if was != is {
		bad.Add("--normal-form", fmt.Errorf("the crawl in %s knows URLs in the form %s and cannot change to %s; "+
			"give --normal-form %s. Once it is finished, --refresh takes another form", c.Config.Dir, was, is, was))
	}
	if isNew {
		return bad.Err()
	}
	sums := t.Texts("stat")
	others := c.hookCounts(sums)
	for _, stat := range c.Config.Filters.Stats {
		name, _, _ := strings.Cut(stat, "=")
		isSame := func(other string) bool { of, _, _ := strings.Cut(other, "="); return of == name }
		if at := slices.IndexFunc(sums, isSame); at >= 0 && sums[at] != stat {
			bad.Add("--stat", fmt.Errorf("the crawl in %s has a sum %s of another expression, %q: "+
				"give the new one another name", c.Config.Dir, name, sums[at]))
		} else if slices.Contains(others, name) {
			bad.Add("--stat", fmt.Errorf("the crawl in %s has a sum %s already, of --hook or of an earlier run: "+
				"give the new one another name", c.Config.Dir, name))
		}
	}
	return bad.Err()
}

// hookCounts returns the names of the sums in the crawl directory that are of none of some --stat.
func (c *Command) hookCounts(stats []string) (names []string) {
	m, err := manifest.Read(vfs.Disk(), c.Config.Dir+"/"+layout.FrontierDir)
	if err != nil || m == nil || c.beginsAgain() {
		return nil
	}
	known := statNames(stats)
	for name := range m.Sums {
		if !slices.Contains(known, name) {
			names = append(names, name)
		}
	}
	return names
}

// statNames are the names of some --stat.
func statNames(stats []string) (names []string) {
	for _, stat := range stats {
		name, _, _ := strings.Cut(stat, "=")
		names = append(names, strings.TrimSpace(name))
	}
	return names
}

// beginsAgain reports whether this run begins the crawl of the directory again from its seeds.
func (c *Command) beginsAgain() bool {
	m, err := manifest.Read(vfs.Disk(), c.Config.Dir+"/"+layout.FrontierDir)
	return err == nil && (m == nil || m.State == lifecycle.Failed || m.State == lifecycle.Finished && c.Config.Refresh)
}

// plainValue writes numbers as TOML does.
func plainValue(text string) any {
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && strconv.FormatInt(n, 10) == text {
		return n
	}
	return text
}

// writeEffective keeps the configuration beside the data.
func (c *Command) writeEffective(inv *command.Invocation) error {
	values := map[string]any{}
	for _, f := range inv.Args.Selected().Flags {
		switch f.Name {
		case "help", "config", "dir", "seeds", "json", "dry-run", "depth", "refresh",
			"progress", "quiet", "log-format", "trust-dir":
			continue
		case "agents":
			if !c.Config.Cluster.Quorum { // one that is killed before the crawl has begun must not begin it alone
				continue
			}
		}
		if v, ok := f.Target.Interface().(limits.Term); ok { // with the zone, that another run may not have
			values[f.Name] = plainValue(v.String())
			continue
		}
		if text, ok := inv.TextOf(f.Value); ok {
			values[f.Name] = plainValue(text)
			continue
		}
		v := f.Target.Interface()
		switch v := v.(type) {
		case fmt.Stringer:
			values[f.Name] = v.String()
		case []string:
			if v = command.Given(v); len(v) > 0 {
				values[f.Name] = v
			}
		case string:
			if v != "" {
				values[f.Name] = v
			}
		default:
			values[f.Name] = v
		}
	}
	// The crawl may go on from another working directory.
	for _, flag := range []string{
		"exclude-hosts", "include-hosts", "surts", "host-rules", "walls", "warc-dictionary", "agent-file", "netrc",
		"load-cookies", "budgets",
	} {
		if flag == "walls" && c.wallsOff() {
			continue
		}
		var err error
		if values[flag], err = absolute(values[flag]); err != nil {
			return fmt.Errorf("--%s: %w", flag, err)
		}
		if values[flag] == nil {
			delete(values, flag)
		}
	}
	text, err := toml.Marshal(values)
	if err != nil {
		return err
	}
	line, err := mark(c.Config.Dir, text)
	if err != nil {
		c.seams.Log.Warn("this account cannot mark the settings of the crawl as its own: "+
			"to resume it, give all flags again, or --trust-dir", "error", err)
	}
	return writeSettings(c.Config.Dir, line, text)
}

// absolute returns the absolute name of a file, or of a list of files; other values stay as they are.
func absolute(value any) (any, error) {
	switch value := value.(type) {
	case string:
		return filepath.Abs(value)
	case []string:
		names := make([]string, len(value))
		for i, file := range value {
			var err error
			if names[i], err = filepath.Abs(file); err != nil {
				return nil, err
			}
		}
		return names, nil
	}
	return value, nil
}

// writeSettings replaces the file of settings. The line with the mark may be empty.
func writeSettings(dir, markLine string, text []byte) error {
	head := "# The effective configuration of this crawl. Flags given when it is resumed win over what stands here.\n"
	return vfs.WriteAtomic(engine.Disk(dir), effectiveFile(dir), func(out io.Writer) error {
		_, err := out.Write(slices.Concat([]byte(head), []byte(markLine), text))
		return err
	})
}

// keptSettings keeps settings that change while the crawl runs in the file of settings.
type keptSettings struct{ dir string }

// KeepValues implements changes.File.
func (k keptSettings) KeepValues(changed map[string]any) error {
	b, err := os.ReadFile(effectiveFile(k.dir))
	if err != nil {
		return err
	}
	if b, err = textfile.Decode(b); err != nil { // an operator may have edited it
		return fmt.Errorf("%s: %w", effectiveFile(k.dir), err)
	}
	line := "" // what changes while the crawl runs reaches nothing new
	if was := command.MarkOf(b); was != "" {
		line = command.MarkLine(was)
	}
	values := map[string]any{}
	if err := toml.Unmarshal(b, &values); err != nil {
		return fmt.Errorf("%s: %w", effectiveFile(k.dir), err)
	}
	for name, value := range changed {
		if values[name] = value; value == nil {
			delete(values, name)
		}
	}
	text, err := toml.Marshal(values)
	if err != nil {
		return err
	}
	return writeSettings(k.dir, line, text)
}
