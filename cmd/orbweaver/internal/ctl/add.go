package ctl

import (
	"errors"
	"fmt"
	"net/http"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/operate/control"
	"orbweaver/internal/cli/command"
)

type ctlAddCmd struct {
	Seeds []string `help:"File of URLs: one on each line, # comments, .gz read too, - for stdin. Repeatable." placeholder:"FILE" sep:"none"`
	URLs  []string `arg:"" optional:"" name:"url" help:"URLs to add."`
}

// Help shows examples.
func (*ctlAddCmd) Help() string {
	return `They are treated as seeds, and are on disk when the command returns. A line for each URL says what became
of it: new, known, or refused with the reason. A host name without a scheme gets http://.
Exit status: 0 if all are new or known, 1 if any was refused.

Examples:
  orbweaver ctl add --dir crawl https://example.org/new/
  orbweaver ctl add --dir crawl --seeds more.txt.gz
  generate-urls | orbweaver ctl add --dir crawl --seeds -`
}

// Run adds URLs.
func (x *ctlAddCmd) Run(inv *command.Invocation, c *Command) error {
	urls, err := crawl.SeedLines(inv, x.URLs, x.Seeds)
	if err != nil {
		return err
	}
	if len(urls) == 0 {
		return command.Misuse(errors.New("give a url as an argument, or a file with --seeds"))
	}
	client, err := c.Client()
	if err != nil {
		return err
	}
	var all admission.Added
	for len(urls) > 0 {
		part := urls[:min(len(urls), admission.AddedListed)]
		urls = urls[len(part):]
		reply, err := client.Do(inv.Context, "add", part)
		all.Join(&reply.Added)
		if refused, ok := errors.AsType[*control.AnswerError](err); ok && refused.Status == http.StatusBadRequest {
			err = nil // for what is no URL
		}
		if err != nil {
			return c.Remedy(err)
		}
	}
	if c.JSON {
		err = command.PrintJSON(inv.Stdout, control.Reply{Message: control.AddedMessage(&all), Added: all})
	} else {
		err = writeAdded(inv, &all)
	}
	if err == nil {
		err = all.RefusedError()
	}
	return err
}

// writeAdded prints the result of each URL, and their numbers.
func writeAdded(inv *command.Invocation, a *admission.Added) error {
	for _, u := range a.URLs {
		line := string(u.Result) + "\t" + command.PlainText(u.URL)
		if u.Reason != "" {
			line += "\t" + command.PlainText(u.Reason)
		}
		if _, err := fmt.Fprintln(inv.Stdout, line); err != nil {
			return err
		}
	}
	fmt.Fprintln(inv.Stderr, control.AddedMessage(a))
	return nil
}
