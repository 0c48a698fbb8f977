package engine

import (
	"errors"
	"fmt"

	"orbweaver/engine/filter"
	"orbweaver/engine/links"
)

// ErrViaUnknown says that a filter asks for what the crawl does not keep.
var ErrViaUnknown = errors.New("via is known there only to a crawl that keeps it; give --warc-via too")

// filters are what decides at the five points, compiled once. What is nil refuses nothing.
type filters struct {
	scope  *filter.Scope // never nil
	lists  *filter.Lists
	fetch  *filter.Fetch
	parse  *filter.Parse
	follow *filter.Follow
	store  *filter.Store // never nil
}

// compileFilters tells all faults at once.
func compileFilters(cfg *Config, seeds *filter.Seeds) (*filters, error) {
	var f filters
	var faults []error
	fault := func(point string, err error) {
		if err != nil {
			faults = append(faults, fmt.Errorf("engine: %s: %w", point, err))
		}
	}
	var err error
	f.scope, err = filter.CompileScope(cfg.Filters.Scope, seeds)
	fault("scope", err)
	f.fetch, err = filter.CompileFetch(cfg.Filters.Fetch, seeds)
	fault("fetch", err)
	f.parse, err = filter.CompileParse(cfg.Filters.Parse, seeds)
	fault("parse", err)
	f.follow, err = filter.CompileFollow(cfg.Filters.Follow, seeds)
	fault("follow", err)
	f.store, err = filter.CompileStore(cfg.Filters.Store, seeds)
	fault("store", err)
	if len(faults) == 0 && !cfg.Archive.Via {
		if f.fetch.AsksVia() {
			fault("fetch", ErrViaUnknown)
		}
		if f.store.AsksVia() {
			fault("store", ErrViaUnknown)
		}
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	if !cfg.Filters.Lists.IsEmpty() {
		f.lists = &cfg.Filters.Lists
	}
	if yes, constant := f.fetch.Constant(); constant && yes {
		f.fetch = nil
	}
	if yes, constant := f.parse.Constant(); constant && yes {
		f.parse = nil
	}
	if yes, constant := f.follow.Constant(); constant && yes {
		f.follow = nil
	}
	return &f, nil
}

// links are those that a page and its links pass on their way to the door.
func (f *filters) links() links.Filters { return links.Filters{Parse: f.parse, Follow: f.follow} }

// errors counts by point the evaluations that failed, those of the fetch filter left out.
func (f *filters) errors() map[string]int64 {
	m := map[string]int64{}
	count := func(point string, n uint64) {
		if n > 0 {
			m[point] = int64(n)
		}
	}
	count("scope", f.scope.Errors())
	count("store", f.store.Errors())
	if f.parse != nil {
		count("parse", f.parse.Errors())
	}
	if f.follow != nil {
		count("follow", f.follow.Errors())
	}
	return m
}

func (c Config) linkOptions(by links.Filters) links.Options {
	return links.Options{Nofollow: c.Admission.NoFollow, Tell: c.Archive.Via || c.Archive.Outlinks, Forms: c.Admission.Forms,
		Sitemaps: c.Admission.Sitemaps, Longest: c.Admission.MaxURL, Strip: c.params(), By: by}
}
