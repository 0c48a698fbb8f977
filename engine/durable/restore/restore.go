package restore

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/durable/checkpoint"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/links"
	"orbweaver/engine/frontier/schedule"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
)

// Crawl is a crawl whose components are open as they were at its last checkpoint.
type Crawl struct {
	FS      vfs.FS
	Dir     string // crawl directory
	Boot    lifecycle.Boot
	Log     *slog.Logger
	Options Options

	CrawlLog *crawllog.Log
	Journal  *journal.Store
	Frontier *admission.Frontier
	Sites    *sites.Table
	Dead     *schedule.DeadSites
	Flusher  Flusher
	Finished *journal.FinishedURLs
	Limits   *limits.Limits
	Cluster  Cluster
}

// Options are the settings of the crawl that decide what a journal entry means.
type Options struct {
	Links       links.Options
	HasVia      bool // the crawl keeps which page linked to a URL
	Politeness  politeness.Policy
	StallWait   time.Duration
	RulesMemory int64 // bytes
	Readers     int   // goroutines that read the archive
}

// Flusher flushes the sieve.
type Flusher interface {
	FlushOnce(ctx context.Context) error
}

// Cluster is what a restore tells the cluster.
type Cluster interface {
	NoteRebuilt(o outcome.Outcome, fp xxh3.Uint128)
	Replay(message []byte, age time.Duration) error
}

// Result is what a restore has done.
type Result struct {
	Replay  time.Duration // of the journal
	Entries int           // of the journal
	Links   int           // that were offered to admission again
}

func (c *Crawl) frontierDir() string { return c.Dir + "/" + layout.FrontierDir }

// Restore brings a crawl from the checkpoint of a manifest to where the journal ends. URLs in flight go back to their
// sites. What the journal names as finished is not fetched again, and its links, which are read from the archive, are
// offered to admission. It sets m.Archive to the end of what the journal names: later records belong to attempts that
// count as never made.
func (c *Crawl) Restore(m *manifest.Manifest) (Result, error) {
	c.wakeSites()
	clocks := lifecycle.NewResumed(m.Clocks(), c.Boot)
	m.NotBefore, m.UncleanResume = clocks.Moment(m.NotBefore), clocks.Moment(m.UncleanResume)
	if !m.Clean || m.UncleanResume.After(clocks.Now) {
		m.UncleanResume = clocks.Now
	}
	c.Sites.UncleanResume = m.UncleanResume
	name := manifest.InFlightPath(c.frontierDir(), m.Generation)
	b, err := vfs.ReadFile(c.FS, name)
	if err != nil {
		return Result{}, fmt.Errorf("restore: resume: %w", err)
	}
	var lost error
	back := func(key, item []byte) { lost = errors.Join(lost, c.putBack(key, item)) }
	if err = checkpoint.ReadInFlight(b, back, c.Finished); err != nil {
		return Result{}, fmt.Errorf("%s: %w", name, err)
	}
	if lost != nil {
		return Result{}, lost
	}
	if m.Clean {
		c.Frontier.Cache, err = checkpoint.LoadCache(c.FS, c.frontierDir(), m.Generation, c.Frontier.Cache)
		return Result{}, err
	}
	began := time.Now()
	r, err := c.replay(m)
	if err != nil {
		return Result{}, err
	}
	c.repairLog(m, r.lines)
	result := Result{Replay: time.Since(began), Entries: r.entries, Links: r.links}
	c.keepDelays(time.Now())
	return result, nil
}

// BeginPass brings a new pass to its beginning: it keeps the times before which sites must not be visited.
func (c *Crawl) BeginPass(m *manifest.Manifest) error {
	if err := c.carryDues(m); err != nil {
		return err
	}
	c.wakeSites()
	return nil
}

// wakeSites wakes every site that waited for something that no checkpoint has: an address, a robots.txt that another
// site serves (requested again from the start), the distributor to drop what a dead site has on disk.
func (c *Crawl) wakeSites() {
	c.Sites.Workbench.Listing().Each(func(vs *visit.State, state workbench.State) bool {
		switch state {
		case workbench.Unresolved:
			c.Sites.Unresolved.Put(c.Sites.Workbench.Site(vs).AppendKey(nil))
		case workbench.Parked:
			c.Sites.Workbench.Unpark(vs, nil)
		case workbench.Dead:
			if c.Sites.Workbench.Site(vs).OnDisk() > 0 {
				c.Dead.EmptyQueue(c.Sites.Workbench.Site(vs).AppendKey(nil))
			}
		case workbench.Deferred, workbench.Idle, workbench.Waiting, workbench.Leased:
		}
		return true
	})
}

// putBack gives a URL that was in flight back to its site.
func (c *Crawl) putBack(key, item []byte) error {
	if len(key) == 0 { // the distributor held it, whole
		it := queued.MustDecode(item)
		site, path := urlx.Split(it.Rest)
		it.Rest = path
		key, item = site, queued.Append(nil, &it)
	}
	return c.Sites.UseOrAdd(key, func(vs *visit.State) {
		if !c.Sites.Workbench.PushFront(vs, item) {
			c.Dead.Drop(key, item, outcome.SiteGone)
		}
	})
}

// keepDelays makes every site with a delay of its own, from its robots.txt or from a rule, wait that long from now: it
// may have got a request just before the crash. sites.Table does the same for sites in the cold store. All others wait
// for the feeder, which waits for the general delays.
func (c *Crawl) keepDelays(now time.Time) {
	p := &c.Options.Politeness
	ruled := c.Sites.Live.Hosts.Delays()
	slow := map[*visit.State]time.Duration{}
	var key []byte
	c.Sites.Workbench.Listing().Each(func(vs *visit.State, _ workbench.State) bool {
		var own filter.HostSettings
		if ruled {
			key = c.Sites.Workbench.Site(vs).AppendKey(key[:0])
			own = c.Sites.Live.Hosts.Terms(key)
		}
		c.Sites.Workbench.Site(vs).Read(func(s *site.State) { // at all of them: none must count as changed
			if d := p.SiteDelay(own.Delay(), s.CrawlDelay()); d > p.HostDelay {
				slow[vs] = d
			}
		})
		return true
	})
	for vs, delay := range slow {
		c.Sites.Workbench.Site(vs).Postpone(now.Add(delay), time.Time{})
	}
}

// carryDues keeps the due times of the pass before. The workbench is new, and its sites have no address. Which sites
// share an address is not known, so the first request of all sites waits for the general delays. A site that could not
// be reached got no request, so it waits no longer than that.
func (c *Crawl) carryDues(m *manifest.Manifest) error {
	old, err := checkpoint.LoadWorkbench(
		c.FS, c.frontierDir(), m.Bench, workbench.Options{}, site.NewRulesPool(c.Options.RulesMemory),
	)
	if err != nil {
		return err
	}
	clocks := lifecycle.NewResumed(m.Clocks(), c.Boot)
	old.DueTimes().Anchor(clocks.Now, clocks.CheckpointClock())
	var key []byte
	old.Listing().Each(func(vs *visit.State, _ workbench.State) bool {
		reached := true
		old.Site(vs).Read(func(s *site.State) {
			reached = s.HasAnswered || s.FailureStreak().LastOutcome.Class() != outcome.ClassHost
		})
		if due := old.Site(vs).Due(); reached && due.After(clocks.Now) {
			key = old.Site(vs).AppendKey(key[:0])
			site, _ := c.Sites.Workbench.GetOrAdd(key)
			c.Sites.Workbench.Site(site).Postpone(due, time.Time{})
		}
		return true
	})
	return nil
}
