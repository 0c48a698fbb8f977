package crawl

import (
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/options"
	"orbweaver/internal/vfs"
)

// Preset is a name for the values of several flags.
type Preset struct {
	Name, For string
	Values    []PresetValue
}

// PresetValue is the value that a preset gives a flag, and the reason.
type PresetValue struct{ Flag, Value, Why string }

// Presets lists the presets. The help, the man page and docs/guide/presets.md are made from it. No delay is shorter and
// no rate is higher than the default.
func Presets() []Preset {
	return []Preset{
		{"polite", "small servers and wary owners", []PresetValue{
			{"host-delay", "15s", "5,760 requests a day at most"},
			{"ip-delay", "5s", "sites of one server share it"},
			{"crawl-delay-max", "1h", "longer ones are obeyed, too"},
			{"fetchers", "64", "few requests at a time"},
			{"bandwidth", "2MiB/s", "your own network stays usable"},
			{"host-bandwidth", "256KiB/s", "large files leave room on a small line"},
			{"speculative", "off", "wrong guesses are errors in the log of the owner"},
			{"nofollow", "true", "the wish of the page is kept"},
		}},
		{"archive", "web archives: whole pages, and where they came from", []PresetValue{
			{"requisites", "all", "pages replay"},
			{"sitemaps", "true", "pages that no page links to"},
			{"warc-metadata", "all", "a record for each page"},
			{"warc-via", "true", "which page led to it"},
			{"warc-outlinks", "true", "which links it had"},
			{"max-body", "8GiB", "whole films and data sets"},
			{"tries", "5", "up to two more than by default"},
			{"stall-wait", "1d", "sites may be down over night"},
		}},
		{"broad", "search engines and corpora: a little of many hosts, pages only", []PresetValue{
			{"scope", "all", "links lead to any host"},
			{"requisites", "off", "none ahead of pages"},
			{"follow", `kind in ["anchor", "area", "link", "frame", "iframe", "refresh", "redirect", "feed", ` +
				`"sitemap", "sitemapfile", "pdf"]`, "links to pages, not to requisites"},
			{"speculative", "off", "scripts are not searched"},
			{"max-per-host", "1000", "no site takes up the crawl"},
			{"max-hosts-per-domain", "100", "against endless host names"},
			{"trap-floor", "100", "traps are left early"},
			{"max-body", "2MiB", "few texts are longer"},
		}},
		{"site", "a copy of one site", []PresetValue{
			{"scope", "host", "no other hosts of the domain"},
			{"requisites", "all", "from any host, so that the copy replays"},
			{"sitemaps", "true", "pages that no page links to"},
			{"max-per-host", "50000", "56 hours at 4s"},
			{"trap-floor", "1000", "a trap costs an hour at 4s"},
			{"fetchers", "16", "one site keeps no more busy"},
			{"stall-wait", "10m", "stops soon if the site is down, to be resumed"},
		}},
	}
}

// Text returns the value as a flag of the command line.
func (v *PresetValue) Text() string {
	switch {
	case v.Value == "true":
		return "--" + v.Flag
	case strings.Contains(v.Value, " "):
		return "--" + v.Flag + " '" + v.Value + "'"
	default:
		return "--" + v.Flag + " " + v.Value
	}
}

// presetNames returns the names of all presets.
func presetNames() (names []string) {
	for _, p := range Presets() {
		names = append(names, p.Name)
	}
	return names
}

// presetsHelp is the part of the help about presets.
func presetsHelp() string {
	var b strings.Builder
	b.WriteString("Presets are for new crawls. Each gives a few flags other values. All that you set wins over it\n" +
		"(docs/guide/presets.md):\n\n")
	for _, p := range Presets() {
		fmt.Fprintf(&b, "  --preset %-8s %s\n", p.Name, p.For)
		line := ""
		for i := range p.Values {
			for _, part := range parts(p.Values[i].Text()) {
				if line != "" && len(line)+len(part) > presetsWidth {
					fmt.Fprintf(&b, "     %s\n", line)
					line = ""
				}
				line += " " + part
			}
		}
		fmt.Fprintf(&b, "     %s\n", line)
	}
	return b.String()
}

// presetsWidth is the length of a line of flags in the help.
const presetsWidth = 74

// parts returns a flag as one part of a line; if it is longer than a line, its words.
func parts(flag string) []string {
	if len(flag) > presetsWidth {
		return strings.Fields(flag)
	}
	return []string{flag}
}

// startOptions are what a crawl begins with.
type startOptions struct {
	Preset string   `help:"Values of a few flags for one purpose: polite, archive, broad or site. 'orbweaver crawl --help' lists them. Flags, variables and files win over it. A crawl that is resumed keeps its settings." words:"polite,archive,broad,site" placeholder:"NAME" basic:""`
	Seeds  []string `help:"File of seeds: one URL on each line, # comments, .gz read too, - for stdin. Repeatable." placeholder:"FILE" sep:"none" basic:""`

	applied *Preset // gives values to this run; nil for none
}

// PresetValues implements command.Presetter. A crawl that has begun keeps the settings that it has, whatever the preset
// means today.
func (o *startOptions) PresetValues(name, dir string) (map[string]any, error) {
	if name == "" || hasBegun(dir) {
		return nil, nil //nolint:nilnil // no values
	}
	at := slices.IndexFunc(Presets(), func(p Preset) bool { return p.Name == name })
	if at < 0 {
		return nil, fmt.Errorf("%q is none of %s%s", name, strings.Join(presetNames(), ", "),
			command.Suggestion(name, presetNames()))
	}
	o.applied = &Presets()[at]
	values := map[string]any{}
	for _, v := range o.applied.Values {
		values[v.Flag] = v.Value
	}
	return values, nil
}

// hasBegun reports whether the directory holds a crawl that has written its settings.
func hasBegun(dir string) bool {
	for _, name := range []string{effectiveFile(dir), filepath.Join(dir, layout.ManifestFile)} {
		if _, err := vfs.Disk().Size(name); err != nil {
			return false
		}
	}
	return true
}

// samePreset refuses a preset that the crawl in the directory was not begun with.
func (o *startOptions) samePreset(dir string) error {
	if o.Preset == "" || o.applied != nil || !hasBegun(dir) {
		return nil
	}
	t, err := command.ReadTOML(effectiveFile(dir))
	if err != nil {
		return nil //nolint:nilerr // told elsewhere
	}
	if was, _ := t.Text("preset"); was == o.Preset {
		return nil
	}
	return fmt.Errorf("the crawl in %s was begun without preset %s and keeps its settings: give the flags to change, "+
		"such as --host-delay; 'orbweaver crawl --help' lists those of the preset", dir, o.Preset)
}

// printPreset says which values the preset has set, and which it has not since they were given.
func (o *startOptions) printPreset(out io.Writer, inv *command.Invocation) {
	if o.applied == nil {
		return
	}
	var set, given []string
	flags := inv.Args.Selected().Flags
	for i := range o.applied.Values {
		v := &o.applied.Values[i]
		f := flags[slices.IndexFunc(flags, func(f *kong.Flag) bool { return f.Name == v.Flag })]
		is := options.Setting{Name: f.Name, Value: f.Target, Tag: f.Tag}
		would := options.Setting{Name: f.Name, Value: reflect.New(f.Target.Type()).Elem(), Tag: f.Tag}
		if err := would.Set(v.Value); err == nil && would.Text() == is.Text() {
			set = append(set, v.Text())
		} else {
			given = append(given, (&PresetValue{Flag: f.Name, Value: is.Text()}).Text())
		}
	}
	line := fmt.Sprintf("preset %s: %s", o.applied.Name, strings.Join(set, ", "))
	if len(given) > 0 {
		line += "; given: " + strings.Join(given, ", ")
	}
	fmt.Fprintln(out, line)
}
