package filter

import (
	"errors"
	"fmt"
)

// Options decide at five points, each by all, none, or an expression over what is known there.
type Options struct {
	Scope  string `help:"URLs that enter the frontier: domain (the registrable domains of the seeds), host or prefix of the seeds, all, or an expression. Use all for a broad crawl." default:"domain" words:"domain,host,prefix,all" placeholder:"SCOPE" group:"common" basic:""`
	Fetch  string `help:"URLs that are fetched: all, none, or an expression. It is asked when a URL leaves the frontier, so 'ctl set fetch=' can change it during the crawl." default:"all" words:"all,none" placeholder:"EXPR"`
	Parse  string `help:"Pages that are searched for links: all, none, or an expression." default:"all" words:"all,none" placeholder:"EXPR"`
	Follow string `help:"Links that are followed: all, none, or an expression." default:"all" words:"all,none" placeholder:"EXPR"`
	Store  string `help:"Responses that are archived: all, none, or an expression. With 'none' the crawl only discovers URLs." default:"all" words:"all,none" placeholder:"EXPR"`

	Score string `help:"How soon a link is fetched, with --visit focused: a number from 0 to 15, and the largest comes first. true counts as 1. Example: via_count(\"jazz\") > 2 ? 2 : anchor contains \"jazz\" ? 1 : 0." placeholder:"EXPR"`

	Stats []string `name:"stat" help:"Number that is added up for each answer to a page: in report.json, the metrics and progress.tsv (repeatable). true counts as 1. Example: 'pdf_bytes=content_type == \"application/pdf\" ? size : 0'." placeholder:"NAME=EXPR" sep:"none"`

	Lists     Lists      `kong:"-"` // plain rules before the scope, and again before a request
	HostRules *HostRules `kong:"-"` // settings of single hosts; nil: none
}

// ErrViaUnknown says that a filter needs to know which page linked to a URL, and that the crawl does not keep that.
var ErrViaUnknown = errors.New("via is known there only to a crawl that keeps it; give --warc-via too")

// Filters are compiled Options. A nil filter refuses nothing. Scope and Store are never nil.
type Filters struct {
	Scope  *Scope
	Lists  *Lists
	Fetch  *Fetch
	Parse  *Parse
	Follow *Follow
	Store  *Store
	Stats  []*Stat
	Score  *Score
}

// Compile compiles Options, and reports all faults at once. Seeds decide for scopes that name them. hasVia says that
// the crawl keeps which page linked to a URL.
func Compile(o *Options, seeds *Seeds, hasVia bool) (*Filters, error) {
	var f Filters
	var faults []error
	fault := func(point string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("filter: %s: %w", point, err))
		}
	}
	var err error
	f.Scope, err = CompileScope(o.Scope, seeds)
	fault("scope", err)
	f.Fetch, err = CompileFetch(o.Fetch, seeds)
	fault("fetch", err)
	f.Parse, err = CompileParse(o.Parse, seeds)
	fault("parse", err)
	f.Follow, err = CompileFollow(o.Follow, seeds)
	fault("follow", err)
	f.Store, err = CompileStore(o.Store, seeds)
	fault("store", err)
	f.Stats, err = CompileStats(o.Stats, seeds, hasVia)
	fault("stat", err)
	if o.Score != "" {
		f.Score, err = CompileScore(o.Score, seeds)
		fault("score", err)
	}
	if len(faults) == 0 && !hasVia {
		if f.Fetch.AsksVia() {
			fault("fetch", ErrViaUnknown)
		}
		if f.Store.AsksVia() {
			fault("store", ErrViaUnknown)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	if !o.Lists.IsEmpty() {
		f.Lists = &o.Lists
	}
	if yes, constant := f.Fetch.Constant(); constant && yes {
		f.Fetch = nil
	}
	if yes, constant := f.Parse.Constant(); constant && yes {
		f.Parse = nil
	}
	if yes, constant := f.Follow.Constant(); constant && yes {
		f.Follow = nil
	}
	return &f, nil
}

// Errors counts by point the evaluations that failed, without those of the fetch filter, which may change.
func (f *Filters) Errors() map[string]int64 {
	m := map[string]int64{}
	count := func(point string, n uint64) {
		if n > 0 {
			m[point] = int64(n)
		}
	}
	count("scope", f.Scope.Errors())
	count("store", f.Store.Errors())
	if f.Parse != nil {
		count("parse", f.Parse.Errors())
	}
	if f.Follow != nil {
		count("follow", f.Follow.Errors())
	}
	if f.Score != nil {
		count("score", f.Score.Errors())
	}
	for _, s := range f.Stats {
		count("stat "+s.Name, s.Errors())
	}
	return m
}
