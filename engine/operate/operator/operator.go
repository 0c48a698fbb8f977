package operator

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"

	"orbweaver/engine/durable/checkpoint"
	"orbweaver/engine/durable/storage"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/schedule"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/underway"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/feed"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/receipts"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/lookup"
)

// Operator acts on a running crawl and reads it.
type Operator struct {
	Captures *lookup.Files // the index of the archive, also of files that are open
	Feed     *feed.Feed    // what is new, changed or gone in the archive

	parts      Parts
	hosts      *hosts.Lister
	addedSeeds *admission.AddedSeeds
	seedsTurn  sync.Mutex // held by seedList
	settings   *changes.Settings
}

// Parts are the parts of a crawl that an Operator uses. All must be set.
type Parts struct {
	Options

	Run         *lifecycle.Run
	Disk        *storage.Storage
	Live        *settings.Live
	Limits      *limits.Limits
	Quotas      *limits.Quotas
	Pages       *atomic.Pointer[parsers.Rules]
	Seeds       *filter.Seeds
	Frontier    *admission.Frontier
	Sites       *sites.Table
	Distributor *schedule.Distributor
	Checkpoints *checkpoint.Checkpointer
	Outages     report.Outages
	Reports     *report.Collector
	Exchanges   *underway.Table
	Shares      *visit.Shares
	Cluster     Cluster
}

// New returns the Operator of a crawl.
func New(p Parts) *Operator {
	captures := lookup.NewFiles(lookup.Options{
		FS: receipts.Over(p.FS), Dirs: []string{p.Dir + "/" + layout.ArchiveDir}, Writing: openFiles{p.Disk.Journal},
	})
	o := &Operator{
		parts: p, Captures: captures, addedSeeds: admission.NewAddedSeeds(p.FS, p.Dir+"/"+layout.FrontierDir),
		Feed: feed.New(feed.Options{
			Archive: captures, Growth: journal.Growth{Store: p.Disk.Journal}, Log: feed.CrawlLog{FS: p.FS, Dir: p.Dir},
			FS: p.FS, Dir: p.Dir + "/" + layout.FeedDir,
		}),
		hosts: &hosts.Lister{
			Workbench: p.Disk.Workbench, Sites: p.Sites, OnDisk: sites.NewDiskQueues(p.Disk.SiteQueues), Live: p.Live,
			Paused: p.Outages.Gate.Reason,
		},
	}
	p.Cluster.AnswerAboutURL(o.answerAgent)
	o.settings = changes.New(changes.Parts{
		Options: p.Changes, HasVia: p.HasVia, Live: p.Live, Seeds: p.Seeds, Limits: p.Limits, Quotas: p.Quotas,
		Network: p.Outages.Network, Recount: p.Sites.CountKnown, Frontier: p.Frontier,
		Pages: p.Pages, Workbench: p.Disk.Workbench, Queue: queue{o}, Wake: p.Wake,
		Traps: p.Reports.Traps, Distributor: p.Distributor,
		Checkpoints: p.Checkpoints,
	})
	return o
}

// openFiles are the archive files that are not closed. The Operator is made before the archive is opened.
type openFiles struct{ journal *journal.Store }

// OpenLines returns the index lines of these files.
func (f openFiles) OpenLines(ctx context.Context) ([]warc.OpenLines, error) {
	return f.journal.Writer.OpenLines(ctx)
}

// Options are settings of the crawl that its operator cannot change.
type Options struct {
	FS     vfs.FS
	Dir    string // of the crawl
	HasVia bool   // the crawl keeps which page linked to a URL
	Wake   func() // wakes feeder and distributor

	Changes changes.Options
}

// Cluster is what an Operator needs of the other agents.
type Cluster interface {
	IsShared() bool
	IsOver() bool
	MayLeave(ctx context.Context) error
	Leave()
	cluster.URLQuestions
}

// pauseReason is what the operator's pause is called in report.json.
const pauseReason = "paused by the operator"

// Report describes the crawl as it is now.
func (o *Operator) Report() report.Report { return o.parts.Reports.Report() }

// Pause stops new exchanges until Resume; those under way end. It reports whether the crawl was running.
func (o *Operator) Pause() bool { return o.parts.Outages.Gate.Shut(pauseReason) }

// Resume undoes Pause. It reports whether there was one.
func (o *Operator) Resume() bool { return o.parts.Outages.Gate.Open(pauseReason) }

// Stop ends the crawl in order; it can be resumed later.
func (o *Operator) Stop() { o.parts.Run.Finish(lifecycle.ReasonSignal) }

// Leave ends this agent's part in the crawl permanently: what it has queued goes to the other agents, with all that
// they must know of it. It returns when that has begun; Run returns when it is done, in the state "finished". An error
// says why it cannot be: cluster.ErrNoAgents, ErrNoAgentStays, ErrLeaveUnknown, or an agent that does not answer; then
// nothing has changed.
func (o *Operator) Leave(ctx context.Context) error {
	isEnding := func() bool {
		return o.parts.Cluster.IsShared() && (o.parts.Run.IsStopping() || o.parts.Cluster.IsOver())
	}
	if isEnding() {
		return cluster.ErrEnding
	}
	if err := o.parts.Cluster.MayLeave(ctx); err != nil {
		return err
	}
	if isEnding() { // the operator has stopped it meanwhile
		return cluster.ErrEnding
	}
	o.parts.Cluster.Leave()
	o.parts.Run.Finish(lifecycle.ReasonLeft)
	return nil
}

// HostRule takes rules of single hosts (see filter.HostRules), in force at once and for the runs to come. What is
// queued of hosts that they exclude gets the outcome Blocked, beside the crawl.
func (o *Operator) HostRule(rules []string) (taken int, err error) {
	taken, err = o.parts.Live.Hosts.Add(rules)
	if taken > 0 && o.parts.Live.Hosts.ExcludesAny() {
		o.parts.Distributor.Purge()
	}
	return taken, err
}

// HostRules are the rules of single hosts: those that HostRule took, in this run and before, and those of the
// configuration.
func (o *Operator) HostRules() (live, fixed []string) { return o.parts.Live.Hosts.List() }

// AddURLs offers URLs as seeds, as fast as there is room for them, and returns when a checkpoint has them. An error
// is a fault of the crawl; what is no URL is counted as refused.
func (o *Operator) AddURLs(ctx context.Context, urls iter.Seq[string]) (added admission.Added, err error) {
	i := admission.Injector{
		Frontier:   o.parts.Frontier,
		Seeds:      o.parts.Seeds,
		Steps:      &o.parts.Disk.Journal.Steps,
		IsStopping: o.parts.Run.IsStopping,
		Wake:       o.parts.Wake,
		Added:      o.addedSeeds,
	}
	if added, err = i.Add(ctx, urls); added.New+added.Known+added.Sent > 0 && !i.Refused {
		err = errors.Join(err, o.Checkpoint(ctx))
	}
	return added, err
}

// Checkpoint takes a checkpoint now and returns when its manifest is durable, or at once if the crawl stops: the last
// checkpoint follows then.
func (o *Operator) Checkpoint(ctx context.Context) error {
	return o.parts.Checkpoints.Request(ctx, o.parts.Run.Stopping())
}
