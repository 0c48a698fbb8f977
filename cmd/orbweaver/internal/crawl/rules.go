package crawl

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"orbweaver/engine"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/operate/dryrun"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/wall"
	"orbweaver/internal/cli/command"
)

// WallRules are files of rules that tell walls from pages.
type WallRules struct {
	Walls []string `help:"File of further rules, which tell the challenges of protection services from pages, one on each line: a service, then status=N,N, header=\"NAME: TEXT\", title=\"TEXT\" or body=\"TEXT\". Repeatable. off takes all answers for pages." placeholder:"FILE|off" sep:"none"`
}

// listOptions are files of rules.
type listOptions struct {
	ExcludeHosts []string `help:"File of hosts to exclude: host, .suffix, *.suffix or CIDR, one on each line. A CIDR matches only URLs whose host is an address; --deny-net is about all connections. Repeatable." placeholder:"FILE" sep:"none" basic:""`
	IncludeHosts []string `help:"File of hosts, in the same form: no other host is asked. Repeatable." placeholder:"FILE" sep:"none"`
	Surts        []string `help:"File of SURT prefixes, +http://(org,example, or - one on each line: the longest that matches decides. If a file has a +, a URL that matches none is refused. Repeatable." placeholder:"FILE" sep:"none"`
	HostRules    []string `help:"File of rules for single hosts, one on each line: host, .suffix, *.suffix or an address, then host-delay=TIME, max-per-host=N or exclude. The narrowest rule decides. A delay may be shorter than --host-delay; Crawl-delay still lengthens it. Repeatable." placeholder:"FILE" sep:"none" basic:""`
	WallRules
	ExcludeExtensions []string `help:"Endings of paths to exclude, such as jpg,png." placeholder:"EXT"`
}

// points fills in what a crawl decides by at its five points, and gives the rules that its lists were made of.
func (c *listOptions) points(cfg *engine.Config) (from dryrun.Sources, err error) {
	var bad command.Faults
	f := &cfg.Filters
	if _, err = filter.CompileScope(f.Scope, nil); err != nil {
		err = fmt.Errorf("%w%s", err, command.Suggestion(f.Scope, []string{"domain", "host", "prefix", filter.All}))
	}
	bad.Add("--scope", err)
	fetch, err := filter.CompileFetch(f.Fetch, nil)
	if err == nil && fetch.AsksVia() && !cfg.Archive.Via {
		err = filter.ErrViaUnknown
	}
	bad.Add("--fetch", err)
	_, err = filter.CompileParse(f.Parse, nil)
	bad.Add("--parse", err)
	_, err = filter.CompileFollow(f.Follow, nil)
	bad.Add("--follow", err)
	store, err := filter.CompileStore(f.Store, nil)
	if err == nil && store.AsksVia() && !cfg.Archive.Via {
		err = filter.ErrViaUnknown
	}
	bad.Add("--store", err)
	_, err = filter.CompileStats(f.Stats, nil, cfg.Archive.Via)
	bad.Add("--stat", err)
	bad.Add("--score", checkScore(cfg))
	from.ExcludeHosts, f.Lists.ExcludeHosts, err = readList(c.ExcludeHosts, filter.CompileHosts)
	bad.Add("--exclude-hosts", err)
	from.IncludeHosts, f.Lists.IncludeHosts, err = readList(c.IncludeHosts, filter.CompileHosts)
	bad.Add("--include-hosts", err)
	from.SURTs, f.Lists.SURTs, err = readList(c.Surts, filter.CompileSURTs)
	bad.Add("--surts", err)
	from.HostRules, f.HostRules, err = readList(c.HostRules, filter.CompileHostRules)
	bad.Add("--host-rules", err)
	cfg.Walls, err = c.Table()
	bad.Add("--walls", err)
	if len(c.ExcludeExtensions) > 0 {
		f.Lists.ExcludeExtensions, err = filter.CompileExtensions(c.ExcludeExtensions)
		bad.Add("--exclude-extensions", err)
	}
	return from, bad.Err()
}

// Table returns the rules of the files and those of each crawl.
func (c *WallRules) Table() (*wall.Table, error) {
	switch {
	case c.wallsOff():
		return wall.None(), nil
	case len(command.Given(c.Walls)) == 0:
		return wall.BuiltIn(), nil
	case slices.Contains(c.Walls, wall.Off):
		return nil, errors.New("off stands alone: give it, or files (./off is a file)")
	default:
		_, t, err := readList(c.Walls, wall.Compile)
		return t, err
	}
}

// wallsOff reports whether --walls is off.
func (c *WallRules) wallsOff() bool {
	return slices.Equal(command.Given(c.Walls), []string{wall.Off})
}

// readList reads files of rules and makes one list of them; no file means no list.
func readList[L any](files []string, compile func(filter.Rules) (*L, error)) (filter.Rules, *L, error) {
	if files = command.Given(files); len(files) == 0 {
		return filter.Rules{}, nil, nil
	}
	rules, err := ReadRules(files) // those of files that can be read, in any case
	list, bad := compile(rules)
	return rules, list, errors.Join(err, bad)
}

// ReadRules reads the rules of several files as one list. The error joins what is wrong with each.
func ReadRules(files []string) (filter.Rules, error) {
	var bad command.Faults
	lists := make([]filter.Rules, len(files))
	for i, name := range files {
		var err error
		lists[i], err = readRules(name)
		bad.Add("", err)
	}
	return filter.Join(lists...), bad.Err()
}

func readRules(name string) (filter.Rules, error) {
	f, err := os.Open(name)
	if err != nil {
		return filter.Rules{}, err
	}
	defer f.Close()
	return filter.ReadRules(name, f)
}

// checkScore checks the expression of --score, which belongs to one order.
func checkScore(cfg *engine.Config) error {
	cfg.Order.HasScore = cfg.ScoresLinks()
	if cfg.Filters.Score == "" {
		return cfg.Order.Allows(cfg.Order.Visit)
	}
	_, err := filter.CompileScore(cfg.Filters.Score, nil)
	return errors.Join(otherOrder(cfg.Dir, &cfg.Order, order.ModeFocused), err)
}

// otherOrder refuses what is for one order, in a new crawl with another. The order of a crawl may have been changed,
// and may change again.
func otherOrder(dir string, o *order.Options, mode order.Mode) error {
	if o.Visit.Mode == mode || !isNew(dir) {
		return nil
	}
	return fmt.Errorf("is for --visit %v: add that, or leave it out", order.Visit{Mode: mode})
}

// budgets reads the weights of domains for the order.
func (c *Command) budgets(o *order.Options) error {
	if c.Budgets == "" {
		return nil
	}
	misplaced := otherOrder(c.Config.Dir, o, order.ModeRanked)
	f, err := os.Open(c.Budgets)
	if err != nil {
		return errors.Join(misplaced, err)
	}
	defer f.Close()
	o.Budgets, err = order.ReadBudgets(c.Budgets, f)
	return errors.Join(misplaced, err)
}
