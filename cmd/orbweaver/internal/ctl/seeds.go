package ctl

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
)

type seedsCmd struct {
	Sort    string `help:"Which seeds come first: as given; by state, failed and refused ones first; by URL; or those tried last." enum:"given,state,url,time" default:"given"`
	State   string `help:"Only seeds in this state: failed, refused, queued, other-agent, redirected, fetched." placeholder:"STATE"`
	Outcome string `help:"Only seeds with this outcome, as in crawl.log." placeholder:"NAME"`
	Suffix  string `help:"Only seeds on hosts of this name, or below it." placeholder:"NAME"`
	Limit   int    `help:"Number of seeds; at most 1000." default:"20" placeholder:"N"`
}

// Help shows examples.
func (*seedsCmd) Help() string {
	return `What became of each seed, from crawl.log, as in "orbweaver report DIR seeds". Of a queued seed it also says why
its host is not asked now. If the crawl does not run, its directory is read. URLs of ctl add are not listed.

Examples:
  orbweaver ctl seeds --dir crawl --sort state
  orbweaver ctl seeds --dir crawl --state failed --limit 1000
  orbweaver ctl seeds --dir crawl --suffix example.org --json`
}

// Run lists seeds.
func (x *seedsCmd) Run(inv *command.Invocation, c *Command) error {
	list, err := x.list(inv, c)
	switch {
	case err != nil:
		return err
	case c.JSON:
		return command.PrintJSON(inv.Stdout, list)
	}
	return writeSeeds(inv.Stdout, &list)
}

// list asks the running crawl, or reads the directory of one that does not run.
func (x *seedsCmd) list(inv *command.Invocation, c *Command) (list logreport.SeedList, err error) {
	client, err := c.Client()
	if err != nil {
		return list, err
	}
	values := url.Values{"sort": {x.Sort}, "limit": {strconv.Itoa(x.Limit)}}
	for key, value := range map[string]string{"state": x.State, "outcome": x.Outcome, "suffix": x.Suffix} {
		if value != "" {
			values.Set(key, value)
		}
	}
	err = client.AskQuestion(inv.Context, "seeds?"+values.Encode(), &list)
	if err == nil || !c.IsStopped(err) {
		return list, c.Remedy(err)
	}
	if _, missing := os.Stat(c.Dir + "/" + layout.ManifestFile); missing != nil {
		return list, c.Remedy(err)
	}
	return logreport.ListSeeds(inv.Context, vfs.Disk(), c.Dir, logreport.SeedQuery{
		Sort: logreport.SeedOrder(x.Sort), State: logreport.SeedState(x.State), Outcome: x.Outcome, Suffix: x.Suffix,
		Limit: x.Limit, Owner: func([]byte) string { return "" },
	})
}

func writeSeeds(out io.Writer, list *logreport.SeedList) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "STATE\tOUTCOME\tSTATUS\tTIME\tSEED\t")
	for _, s := range list.Seeds {
		more := ""
		switch {
		case s.RedirectedTo != "":
			more = "redirects to " + s.RedirectedTo
		case s.Owner != "":
			more = "owned by agent " + s.Owner
		case s.WaitsFor != "":
			more = "waits for: " + s.WaitsFor
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\t%s\n", s.State, command.PlainText(s.Outcome), s.Status,
			cmp.Or(command.PlainText(s.Time), "-"), command.PlainText(s.URL), command.PlainText(more))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	var states []string
	for _, state := range logreport.SeedStates() {
		if n := list.States[state]; n > 0 {
			states = append(states, fmt.Sprintf("%s %d", state, n))
		}
	}
	_, err := fmt.Fprintf(out, "%d of %s that %s; all: %s\n", len(list.Seeds), plural.Count(list.Matching, "seed"),
		plural.Verb(list.Matching, "matches", "match"),
		cmp.Or(strings.Join(states, ", "), "none"))
	return err
}
