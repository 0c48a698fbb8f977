package manual

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"orbweaver/internal/cli/command"
)

// SampleCommand is the command sample-config.
type SampleCommand struct{}

// Help shows an example.
func (*SampleCommand) Help() string {
	return `Every setting of 'orbweaver crawl' with its help and its default, commented out.

Example:
  orbweaver sample-config > my.toml && orbweaver crawl --config my.toml --contact https://example.org/crawl \
      https://example.org/`
}

// Run prints the file.
func (*SampleCommand) Run(inv *command.Invocation) error {
	_, err := fmt.Fprint(inv.Stdout, Sample(inv.Args.Model, inv.Version))
	return err
}

// sampleWidth is the longest line of the file, in columns.
const sampleWidth = 100

// Sample is a file of settings for the command crawl. All keys are commented out and have their defaults.
func Sample(app *kong.Application, version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Settings of 'orbweaver crawl --config FILE', with the defaults of Orbweaver %s.\n", version)
	b.WriteString("# Remove the # before a key to set it. A flag or a variable ORBWEAVER_NAME wins over this file.\n")
	at := slices.IndexFunc(app.Children, func(n *kong.Node) bool { return n.Name == "crawl" })
	for _, group := range groupFlags(app.Children[at].Flags) {
		if group.title != "" {
			fmt.Fprintf(&b, "\n\n# %s\n", group.title)
		}
		for _, f := range group.flags {
			if isPerRun(f.Name) {
				continue
			}
			b.WriteString("\n")
			for _, line := range wrap(f.Help, sampleWidth-2) {
				b.WriteString("# " + line + "\n")
			}
			fmt.Fprintf(&b, "#%s = %s\n", f.Name, sampleValue(f))
		}
	}
	return b.String()
}

// flagGroup is the flags under one heading.
type flagGroup struct {
	title string // without the colon; empty for flags without a group
	flags []*kong.Flag
}

// groupFlags divides the flags that are not hidden by their groups, in the order of the first flag of each.
func groupFlags(flags []*kong.Flag) (groups []flagGroup) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		title := ""
		if f.Group != nil {
			title = strings.TrimSuffix(f.Group.Title, ":")
		}
		at := slices.IndexFunc(groups, func(g flagGroup) bool { return g.title == title })
		if at < 0 {
			at = len(groups)
			groups = append(groups, flagGroup{title: title})
		}
		groups[at].flags = append(groups[at].flags, f)
	}
	return groups
}

// isPerRun says whether a flag is a matter of one run, not of a crawl's settings.
func isPerRun(flag string) bool {
	return slices.Contains([]string{"help", "config", "dry-run", "depth", "json", "refresh"}, flag)
}

// sampleValue is the default in the form of TOML.
func sampleValue(f *kong.Flag) string {
	kind := f.Target.Kind()
	isNumber := kind == reflect.Int || kind == reflect.Int64
	switch {
	case f.IsSlice() && f.Default == "":
		return "[]"
	case f.IsSlice():
		return fmt.Sprintf("[%q]", f.Default)
	case f.IsBool() && f.Default == "":
		return "false"
	case f.IsBool(), isNumber && strings.Trim(f.Default, "0123456789") == "" && f.Default != "":
		return f.Default
	case isNumber && f.Default == "":
		return "0"
	default:
		return fmt.Sprintf("%q", f.Default)
	}
}

// wrap breaks text into lines of at most so many columns, unless a word is longer.
func wrap(text string, width int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
