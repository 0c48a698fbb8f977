package main

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// app is a web application: how it is filled, and what of it is for readers.
type app struct {
	conf  string // of its virtual host
	fill  func(context.Context, *run, *servers, *site) error
	pages func(context.Context, *run, *site) ([]string, error) // URLs of the pages for readers, by the database
	kinds []urlKind                                            // the first that fits says what a URL is
	// The waste that is allowed: so many requests, and so many times the floor. A site that repeats itself is left out
	// as a whole when it has led to twenty floors of URLs, and each four requests have led to three: that is 27 floors,
	// and some windows.
	fixed, times int
}

// urlKind names a kind of URL. An empty name stands for files such as styles and images, which are neither pages nor
// waste.
type urlKind struct {
	name    string
	pattern *regexp.Regexp
}

// judgeApps crawls the applications with the default settings, for as long as is set, and once more with a small floor
// to the end.
func (r *run) judgeApps(ctx context.Context, of []*site) error {
	byDefault, err := r.crawl(ctx, "apps", of, "--max-time", r.appTime.String())
	if err != nil {
		return err
	}
	if err := r.honest("apps", byDefault); err != nil {
		return err
	}
	if err := r.judgeReplay(ctx, "apps", of); err != nil {
		return err
	}
	for _, s := range of {
		if s.result, err = r.judgeApp(ctx, s, byDefault); err != nil {
			return err
		}
	}
	if r.floor == 0 {
		return nil
	}
	// Pictures of authors are on hosts that have no address here: two tries of them are enough.
	bounded, err := r.crawl(ctx, "apps-floor", of, "--tries", "2", "--trap-floor", strconv.Itoa(r.floor),
		"--max-time", r.endTime.String())
	if err != nil {
		return err
	}
	if bounded.Reason != "complete" {
		r.fail("crawl %q is not complete, but: %s", "apps-floor", bounded.Reason)
	}
	bounded.floor = r.floor
	for _, s := range of {
		if s.bounded, err = r.judgeApp(ctx, s, bounded); err != nil {
			return err
		}
		if most := s.app.fixed + s.app.times*r.floor; s.bounded.waste > most {
			r.fail("%s: with --trap-floor %d the waste is %d requests, more than %d", s.name, r.floor,
				s.bounded.waste, most)
		}
	}
	return nil
}

// judgeApp compares what an archive has of an application with what the application's database knows.
func (r *run) judgeApp(ctx context.Context, s *site, c *crawl) (result, error) {
	pages, err := s.app.pages(ctx, r, s)
	if err != nil || len(pages) == 0 {
		return result{}, fmt.Errorf("%s: %d pages: %w", s.name, len(pages), err)
	}
	readers := map[string]bool{}
	for _, u := range pages {
		readers[u] = true
	}
	found := result{readers: len(readers), state: c.Reason, kinds: map[string]int{}}
	stored := map[string]bool{}
	for _, e := range c.archive {
		if !strings.HasPrefix(e.url, s.seed()) {
			continue
		}
		found.requests++
		if readers[e.url] {
			stored[e.url] = stored[e.url] || e.status == "200"
			continue
		}
		if name := s.app.kind(e); name != "" {
			found.waste++
			found.kinds[name]++
		}
	}
	log, err := r.logs("orbweaver/" + c.name + " ")
	if err != nil {
		return result{}, err
	}
	found.last = lastOf(log, readers, s)
	var lost []string
	for _, u := range slices.Sorted(maps.Keys(readers)) {
		if stored[u] {
			found.stored++
			continue
		}
		lost = append(lost, u)
		if c.skipped[u] {
			found.skipped++
		}
	}
	what := "lost"
	if c.Reason != "complete" { // at its limit of time: it may have them in its queues
		what = "not reached or lost"
	}
	// A small floor may leave out pages for readers, and with them those that only they lead to: the list says so.
	if c.floor == 0 || found.skipped == 0 {
		for _, u := range first(lost) {
			r.fail("%s: %d pages are %s, such as %s; the crawl ended so: %s", s.name, len(lost), what, u, c.Reason)
		}
	}
	r.say(
		"%s: %d of %d pages, the last one by request %d, %d in the list of URLs left out, %d requests, waste %d: %v",
		s.name, found.stored, found.readers, found.last, found.skipped, found.requests, found.waste, found.kinds)
	return found, nil
}

// lastOf is the number of the request to a site that fetched the last of some pages.
func lastOf(log []logged, pages map[string]bool, s *site) (last int) {
	fetched, requests := map[string]bool{}, 0
	for _, l := range log {
		if !strings.HasPrefix(l.url, s.seed()) {
			continue
		}
		if requests++; l.status == "200" && pages[l.url] && !fetched[l.url] {
			fetched[l.url], last = true, requests
		}
	}
	return last
}

// kind says what a URL is that is no page for readers.
func (a *app) kind(e exchange) string {
	for _, k := range a.kinds {
		if k.pattern.MatchString(e.url) {
			return k.name
		}
	}
	if status, _ := strconv.Atoi(e.status); status != 200 {
		return "redirects and errors"
	}
	return "others"
}
