package manual

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"orbweaver/internal/cli/command"
)

// PagesCommand is the command man.
type PagesCommand struct {
	Dir string `arg:"" help:"Directory for the pages." placeholder:"DIR"`
}

// Help shows an example.
func (*PagesCommand) Help() string {
	return `A page for the program and one for each command, made from the same texts as --help. The page crawl.toml.5 is
about the file of settings. Packages install them.

Example:
  orbweaver man ./man1 && man ./man1/orbweaver-crawl.1`
}

// Run writes the pages.
func (c *PagesCommand) Run(inv *command.Invocation) error {
	if err := os.MkdirAll(c.Dir, 0o755); err != nil { //nolint:gosec // for every user to read
		return err
	}
	for name, text := range Pages(inv.Args.Model, inv.Version) {
		if err := os.WriteFile(filepath.Join(c.Dir, name), []byte(text), 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return nil
}

// Pages are the man pages of the program and of its commands, by the names of their files.
func Pages(app *kong.Application, version string) map[string]string {
	pages := map[string]string{app.Name + ".1": programPage(app, version)}
	for _, n := range app.Children {
		if !n.Hidden {
			pages[pageName(n)+".1"] = commandPage(n, version)
		}
	}
	pages[settingsPage+".5"] = filePage(app, version)
	return pages
}

// settingsPage is the page of the file of settings.
const settingsPage = "crawl.toml"

// filePage is the page of the file of settings.
func filePage(app *kong.Application, version string) string {
	var r roff
	head(&r, settingsPage, "5", version, "settings of a crawl of Orbweaver")
	r.macro("SH", "DESCRIPTION")
	r.text("A file in TOML. Its keys are the names of the options of " + app.Name + " crawl, without tables. " +
		"--config names a file that is written by hand. A flag or a variable " + command.EnvPrefix + "_NAME is " +
		"stronger than the file. A crawl writes all of its settings to " + settingsPage + " in its directory, " +
		"and keeps them.")
	r.macro("PP")
	r.text("Times are such as 500ms, 4s or 1h30m; sizes such as 64MiB; a number may stand without quotes. " +
		"An option that may be given several times takes a list.")
	at := slices.IndexFunc(app.Children, func(n *kong.Node) bool { return n.Name == "crawl" })
	for _, group := range groupFlags(app.Children[at].Flags) {
		title, _, _ := strings.Cut(group.title, " (")
		r.macro("SH", strings.ToUpper(title))
		for _, f := range group.flags {
			if !isPerRun(f.Name) {
				r.item(bold(f.Name)+" = "+italic(sampleValue(f)), f.Help)
			}
		}
	}
	r.macro("SH", "EXAMPLES")
	r.paragraphs("contact = \"https://example.org/crawl\"\nseeds = [\"seeds.txt\"]\nscope = \"host\"\n" +
		"host-delay = \"10s\"\nmax-pages = 100000")
	r.macro("SH", "SEE ALSO")
	r.formatted("%s(1); %s prints all settings with their defaults.", bold("orbweaver-crawl"),
		bold("orbweaver sample-config"))
	return r.String()
}

// pageName is what a reader gives to man.
func pageName(n *kong.Node) string { return strings.ReplaceAll(n.FullPath(), " ", "-") }

// programPage is the page of the program.
func programPage(app *kong.Application, version string) string {
	var r roff
	head(&r, app.Name, "1", version, "polite and complete web crawler")
	r.macro("SH", "SYNOPSIS")
	r.formatted("%s %s [%s]...", bold(app.Name), italic("COMMAND"), italic("OPTION"))
	description, example := splitExamples(app.Help)
	r.macro("SH", "DESCRIPTION")
	r.paragraphs(description)
	r.macro("SH", "COMMANDS")
	for _, n := range app.Children {
		if !n.Hidden {
			r.item(bold(pageName(n))+"(1)", n.Help)
		}
	}
	options(&r, "OPTIONS", app.Flags)
	r.macro("SH", "ENVIRONMENT")
	r.item(bold(command.EnvPrefix+"_NAME"),
		"The value of the option --name, if it is not given. Hyphens become underscores.")
	r.item(bold("NOTIFY_SOCKET"), "Set by systemd: crawl reports there when it is ready, what it does, and that it lives.")
	r.macro("SH", "EXIT STATUS")
	for _, s := range command.ExitStatuses() {
		r.item(bold(fmt.Sprint(s.Status)), s.Meaning)
	}
	examples(&r, example)
	return r.String()
}

// commandPage is the page of a command, with those within it.
func commandPage(n *kong.Node, version string) string {
	var r roff
	head(&r, pageName(n), "1", version, lowerFirst(strings.TrimSuffix(n.Help, ".")))
	r.macro("SH", "SYNOPSIS")
	if len(n.Children) == 0 {
		synopsis(&r, n)
	}
	for i, child := range n.Children {
		if i > 0 {
			r.macro("br")
		}
		synopsis(&r, child)
	}
	description, example := splitExamples(n.Detail)
	r.macro("SH", "DESCRIPTION")
	r.text(n.Help)
	if description != "" {
		r.macro("PP")
		r.paragraphs(description)
	}
	arguments(&r, n)
	groupedOptions(&r, n.Flags)
	if len(n.Children) > 0 {
		r.macro("SH", "COMMANDS")
	}
	for _, child := range n.Children {
		subcommand(&r, child)
	}
	examples(&r, example)
	r.macro("SH", "SEE ALSO")
	r.formatted("%s(1) has the options and exit statuses of all commands.", bold("orbweaver"))
	return r.String()
}

// head begins a page.
func head(r *roff, name, section, version, summary string) {
	r.macro("TH", strings.ToUpper(name), section, "", "Orbweaver "+version, "Orbweaver manual")
	r.macro("SH", "NAME")
	r.formatted(`%s \- %s`, escape(name), escape(summary))
}

// synopsis writes how a command is called.
func synopsis(r *roff, n *kong.Node) {
	line := bold(n.FullPath()) + " [" + italic("OPTION") + "]..."
	for _, p := range n.Positional {
		name := italic(argumentName(p))
		if p.IsCumulative() {
			name += "..."
		}
		if !p.Required {
			name = "[" + name + "]"
		}
		line += " " + name
	}
	r.formatted("%s", line)
}

// subcommand writes the part of a command within another.
func subcommand(r *roff, n *kong.Node) {
	r.macro("SS", n.FullPath())
	r.text(n.Help)
	description, example := splitExamples(n.Detail)
	if description != "" {
		r.macro("PP")
		r.paragraphs(description)
	}
	for _, p := range n.Positional {
		r.item(italic(argumentName(p)), p.Help)
	}
	for _, f := range n.Flags {
		option(r, f)
	}
	if example != "" {
		r.macro("PP")
		r.paragraphs(example)
	}
}

// arguments writes what stands behind the options.
func arguments(r *roff, n *kong.Node) {
	if len(n.Positional) == 0 {
		return
	}
	r.macro("SH", "ARGUMENTS")
	for _, p := range n.Positional {
		r.item(italic(argumentName(p)), p.Help)
	}
}

func argumentName(p *kong.Positional) string {
	if p.Tag.PlaceHolder != "" {
		return p.Tag.PlaceHolder
	}
	return strings.ToUpper(p.Name)
}

// groupedOptions writes the options of each group under the group's title.
func groupedOptions(r *roff, flags []*kong.Flag) {
	for _, group := range groupFlags(flags) {
		title := "OPTIONS"
		if group.title != "" {
			short, _, _ := strings.Cut(group.title, " (")
			title += ": " + strings.ToUpper(short)
		}
		options(r, title, group.flags)
	}
}

func options(r *roff, title string, flags []*kong.Flag) {
	begun := false
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		if !begun {
			r.macro("SH", title)
			begun = true
		}
		option(r, f)
	}
}

// option writes one option with its default.
func option(r *roff, f *kong.Flag) {
	if f.Hidden {
		return
	}
	name := bold("--" + f.Name)
	if f.Short != 0 {
		name = bold("-"+string(f.Short)) + ", " + name
	}
	if !f.IsBool() {
		name += "=" + italic(f.FormatPlaceHolder())
	}
	help := f.Help
	if words := f.Tag.Get("oneof"); words != "" {
		help += "\nOne of: " + strings.ReplaceAll(words, ",", ", ") + "."
	}
	if hasDefault(f.Value) {
		help += "\nDefault: " + f.Default + "."
	}
	r.item(name, help)
}

// hasDefault says whether a value has a default that means something.
func hasDefault(v *kong.Value) bool { return v.HasDefault && v.Default != "" && v.Default != "0" }

// examples writes the examples of a command.
func examples(r *roff, text string) {
	if text == "" {
		return
	}
	r.macro("SH", "EXAMPLES")
	r.paragraphs(text)
}

// splitExamples parts the detailed help of a command from its examples.
func splitExamples(detail string) (description, examples string) {
	for _, heading := range []string{"Examples:\n", "Example:\n"} {
		if before, after, found := strings.Cut(detail, heading); found {
			return strings.TrimSpace(before), strings.TrimRight(after, "\n")
		}
	}
	return strings.TrimSpace(detail), ""
}

// lowerFirst makes a sentence a part of another.
func lowerFirst(s string) string {
	if len(s) < 2 || strings.ToUpper(s[:2]) == s[:2] { // a word such as URL
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
