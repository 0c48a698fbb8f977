package ctl

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"text/tabwriter"
	"time"

	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/control"
	"orbweaver/internal/cli/command"
)

// changeOptions are those of changes of settings.
type changeOptions struct {
	Yes    bool   `help:"Change it also if queued URLs are dropped."`
	DryRun bool   `help:"Check the values, and count the queued URLs that would be dropped. Change nothing."`
	Why    string `help:"Reason, for the log of changes." placeholder:"TEXT"`
}

// setCmd changes settings.
type setCmd struct {
	changeOptions

	Reload   bool     `help:"Read the files of --exclude-hosts, --include-hosts, --surts, --host-rules and --walls again."`
	Settings []string `arg:"" optional:"" name:"key=value" help:"Settings, by the names of their flags."`
}

// Help shows examples.
func (*setCmd) Help() string {
	return `Values are checked as at the start: all are changed, or none. They hold at once, and after a resume: they are
written to crawl.toml. Flags given at a resume win over it. logs/changes.log has a line for each change.
'orbweaver ctl undo' takes the last change back.

A change of the scope or of another filter may drop queued URLs. Then it says how many, and changes nothing;
--yes confirms it. Dropped URLs have the outcome 'filtered'. They stay dropped when the change is undone.

--reload has the crawl read its files of rules again. If one of them has a fault, nothing changes. 'ctl undo' does
not bring the former rules back: change the file, and reload it.

Without arguments, all settings are listed that can be changed, with value, default and meaning.

Examples:
  orbweaver ctl set --dir crawl
  orbweaver ctl set --dir crawl host-delay=10s max-pages=50000
  orbweaver ctl set --dir crawl --dry-run scope=host
  orbweaver ctl set --dir crawl --reload
  orbweaver ctl set --dir crawl --yes --why 'no calendars' 'fetch=not (path startsWith "/calendar/")'`
}

// Complete returns what an argument may begin with.
func (*setCmd) Complete(int) (words []string) {
	for _, name := range append(changes.Names(), "log-level") {
		words = append(words, name+"=")
	}
	return words
}

// Run changes settings, or lists them.
func (x *setCmd) Run(inv *command.Invocation, c *Command) error {
	settings := x.Settings
	if x.Reload {
		files, err := c.filesOf(inv)
		if err != nil {
			return err
		}
		return c.change(inv, "set", &x.changeOptions, append(files, settings...))
	}
	if len(settings) == 0 {
		return c.listSettings(inv)
	}
	if len(settings) == 2 && !strings.Contains(settings[0], "=") {
		settings = []string{settings[0] + "=" + settings[1]}
	}
	for _, s := range settings {
		if !strings.Contains(s, "=") {
			return command.Misuse(fmt.Errorf("%s: write it as KEY=VALUE, such as host-delay=10s", s))
		}
	}
	return c.change(inv, "set", &x.changeOptions, settings)
}

// filesOf lists the settings of the crawl that name files, each with its value.
func (c *Command) filesOf(inv *command.Invocation) (files []string, err error) {
	client, err := c.Client()
	if err != nil {
		return nil, err
	}
	var list changes.List
	if err := client.AskQuestion(inv.Context, "settings", &list); err != nil {
		return nil, c.Remedy(c.atResume(err))
	}
	for _, s := range list.Settings {
		if s.IsFile && s.Value != "" {
			files = append(files, s.Name+"="+s.Value)
		}
	}
	if len(files) == 0 {
		return nil, errors.New("the crawl was given no file of rules at its start: " +
			"see --exclude-hosts, --include-hosts, --surts, --host-rules and --walls of 'orbweaver crawl'")
	}
	return files, nil
}

// undoCmd takes the last change back.
type undoCmd struct{ changeOptions }

// Help shows an example.
func (*undoCmd) Help() string {
	return `Each call takes one more change back, also those of earlier runs. The settings get the values that they had
before that change. URLs that were dropped stay dropped.

Examples:
  orbweaver ctl changes --dir crawl
  orbweaver ctl undo --dir crawl`
}

// Run takes the last change back.
func (x *undoCmd) Run(inv *command.Invocation, c *Command) error {
	return c.change(inv, "undo", &x.changeOptions, nil)
}

// change performs set or undo.
func (c *Command) change(inv *command.Invocation, action string, o *changeOptions, settings []string) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	values := url.Values{}
	if o.Yes {
		values.Set("yes", "true")
	}
	if o.DryRun {
		values.Set("dry-run", "true")
	}
	if o.Why != "" {
		values.Set("why", o.Why)
	}
	reply, err := client.Do(inv.Context, action+"?"+values.Encode(), settings)
	switch {
	case c.JSON && (err == nil || reply.Error != ""):
		if perr := command.PrintJSON(inv.Stdout, reply); perr != nil {
			return perr
		}
	case len(reply.Change.Changed) > 0:
		for _, line := range control.ChangeLines(&reply.Change, err == nil && !o.DryRun) {
			fmt.Fprintln(inv.Stderr, command.PlainText(line))
		}
	case reply.Message != "":
		fmt.Fprintln(inv.Stderr, reply.Message)
	}
	return c.Remedy(c.atResume(err))
}

// listSettings lists what can be changed.
func (c *Command) listSettings(inv *command.Invocation) error {
	list, err := c.settings(inv, nil)
	if err != nil || c.JSON {
		return err
	}
	return writeTable(inv.Stdout, "SETTING\tVALUE\tDEFAULT\tMEANING", func(row func(cells ...string)) {
		for _, s := range list.Settings {
			meaning, _, _ := strings.Cut(s.Help, ". ")
			row(s.Name, s.Value, s.Default, strings.TrimSuffix(meaning, "."))
		}
	})
}

// changesCmd lists the last changes.
type changesCmd struct{}

// Help shows an example.
func (*changesCmd) Help() string {
	return `The last 100, the latest at the end. logs/changes.log has all of them. The crawl need not run.

Example:
  orbweaver ctl changes --dir crawl`
}

// Run lists the last changes.
func (*changesCmd) Run(inv *command.Invocation, c *Command) error {
	list, err := c.settings(inv, c.stoppedChanges)
	if err != nil || c.JSON {
		return err
	}
	return writeTable(inv.Stdout, "CHANGE\tTIME\tBY\tSETTING\tFROM\tTO\tNOTE", func(row func(cells ...string)) {
		for _, e := range list.Changes {
			note := e.Why
			if e.Undoes > 0 {
				note = strings.TrimSpace(fmt.Sprintf("undoes %d %s", e.Undoes, note))
			}
			row(fmt.Sprint(e.Change), e.Time.Format(time.RFC3339), e.By, e.Setting, e.From, e.To, note)
		}
	})
}

// settings asks for the settings, or else calls ifStopped if it is not nil. With --json they are printed.
func (c *Command) settings(
	inv *command.Invocation, ifStopped func() (changes.List, error),
) (list changes.List, err error) {
	client, err := c.Client()
	if err != nil {
		return list, err
	}
	err = client.AskQuestion(inv.Context, "settings", &list)
	if ifStopped != nil && c.hasStopped(err) {
		list, err = ifStopped()
	}
	if err != nil {
		return list, c.Remedy(c.atResume(err))
	}
	if c.JSON {
		err = command.PrintJSON(inv.Stdout, list)
	}
	return list, err
}

// writeTable writes rows in columns.
func writeTable(out io.Writer, head string, rows func(row func(cells ...string))) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, head)
	rows(func(cells ...string) {
		for i, cell := range cells {
			if cells[i] = command.PlainText(cell); cell == "" {
				cells[i] = "-"
			}
		}
		fmt.Fprintln(table, strings.Join(cells, "\t"))
	})
	return table.Flush()
}
