package parsers

import (
	"context"
	"sync/atomic"
	"time"

	"orbweaver/engine/frontier/links"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/hook"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/records/neardup"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/otherarchives"
	"orbweaver/engine/store/recrawl"
	"orbweaver/engine/traps"
	"orbweaver/internal/outcome"
	"orbweaver/sieve/fpcache"
)

// Crawl is what the parse workers of a crawl share.
type Crawl struct {
	Pool     *fetch.Pool
	PagesOut *atomic.Int64     // Pages between a fetch worker and the pool
	Stored   func(pages int64) // called when PagesOut has become so many

	Journal  *journal.Store
	InFlight *attempt.InFlight
	Limits   *limits.Limits
	Log      *crawllog.Log
	Sites    Sites
	Answered AnsweredURLs
	Previous recrawl.PreviousCrawl
	Others   OtherArchives
	Agents   cluster.PayloadSharing
	Near     neardup.Known
	Traps    *traps.Detector
	Sources  LinkSources
	Hosts    HostRules
	OnPage   func(p *SeenPage) // nil if the crawl is no library

	Rules    *atomic.Pointer[Rules]
	Stats    []*filter.Stat
	Parsed   *fpcache.Cache // pages whose links were taken: see extractor.parsedKey
	HashSeed uint64         // seed of fingerprints
	Faults   *FaultFiles
	Metadata MetadataOptions
}

// LinkSources find further links of a page, and drop some.
type LinkSources struct {
	Miner Miner
	Hook  *hook.Hook
	Judge *hook.Links // says which links are dropped
}

// HostRules are rules for hosts from a program of the user.
type HostRules struct {
	Program  *hook.Hosts
	TakeRule func(rule string) // called within the step that has written the rule to the journal
}

// Rules say which links are taken and which pages are stored. Those in force are read by all workers, so they never
// change: they are replaced, and hold for the Pages that a worker takes from then on.
type Rules struct {
	Links links.Options
	Store *filter.Store
}

// Admission takes discovered URLs. Each Worker has its own.
type Admission interface {
	// WaitRoom waits until the sieve has room. It is called outside of a step.
	WaitRoom(ctx context.Context) error
	// AddLinks offers the links of a page, within a step. item is what all of them have in common, with the hops
	// of the page. An error means that found is malformed.
	AddLinks(page []byte, found *links.Finder, item queued.URL) error
	// Wants reports whether a URL belongs to the crawl, and is not known to have been found before.
	Wants(url []byte, item queued.URL) bool
}

// OtherArchives are those of other crawls, whose payloads are not stored again.
type OtherArchives interface {
	// Lookup finds the record with a payload that may be used at this time.
	Lookup(digest dedup.Digest, now time.Time) (original otherarchives.Original, ok bool, err error)
}

// Sites are the queues of all sites.
type Sites interface {
	// PutFront puts an item at the front of the queue of its site, within a step. It reports false for a dead site.
	PutFront(url, item []byte) (bool, error)
}

// AnsweredURLs remembers which URLs have an answer, for agents that ask.
type AnsweredURLs interface {
	// NoteAnswered notes a URL if the outcome is an answer, within the step that counts the URL as done.
	NoteAnswered(o outcome.Outcome, url []byte)
	// Maintain does a part of the upkeep, outside of a step.
	Maintain() error
}
