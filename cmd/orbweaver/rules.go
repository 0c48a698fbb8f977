package main

import (
	"os"

	"orbweaver/engine"
	"orbweaver/engine/explain"
	"orbweaver/engine/filter"
)

// points fills in what a crawl decides by at its five points, and gives the rules that its lists were made of.
func (c *crawlCmd) points(cfg *engine.Config) (from explain.Sources, err error) {
	var bad mistakes
	f := &cfg.Filters
	_, err = filter.CompileScope(f.Scope, nil)
	bad.add("--scope", err)
	fetch, err := filter.CompileFetch(f.Fetch, nil)
	if err == nil && fetch.AsksVia() && !cfg.Archive.Via {
		err = filter.ErrViaUnknown
	}
	bad.add("--fetch", err)
	_, err = filter.CompileParse(f.Parse, nil)
	bad.add("--parse", err)
	_, err = filter.CompileFollow(f.Follow, nil)
	bad.add("--follow", err)
	store, err := filter.CompileStore(f.Store, nil)
	if err == nil && store.AsksVia() && !cfg.Archive.Via {
		err = filter.ErrViaUnknown
	}
	bad.add("--store", err)
	from.ExcludeHosts, f.Lists.ExcludeHosts, err = readList(c.ExcludeHosts, filter.CompileHosts)
	bad.add("--exclude-hosts", err)
	from.IncludeHosts, f.Lists.IncludeHosts, err = readList(c.IncludeHosts, filter.CompileHosts)
	bad.add("--include-hosts", err)
	from.SURTs, f.Lists.SURTs, err = readList(c.Surts, filter.CompileSURTs)
	bad.add("--surts", err)
	from.HostRules, f.HostRules, err = readList(c.HostRules, filter.CompileHostRules)
	bad.add("--host-rules", err)
	if len(c.ExcludeExtensions) > 0 {
		f.Lists.ExcludeExtensions, err = filter.CompileExtensions(c.ExcludeExtensions)
		bad.add("--exclude-extensions", err)
	}
	return from, bad.err()
}

// readList reads a file of rules and makes a list of them; no name means no list.
func readList[L any](name string, compile func(filter.Rules) (*L, error)) (filter.Rules, *L, error) {
	if name == "" {
		return filter.Rules{}, nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return filter.Rules{}, nil, err
	}
	defer f.Close()
	rules, err := filter.ReadRules(name, f)
	if err != nil {
		return rules, nil, err
	}
	list, err := compile(rules)
	return rules, list, err
}
