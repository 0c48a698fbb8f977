package termination

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/notify"
)

// Network is what a Detector needs of cluster.Network.
type Network interface {
	Self() string
	Agents() []ownership.Agent
	KnownAgents() []cluster.KnownAgent
	Ask(ctx context.Context, to string, question []byte) (answer []byte, err error)
}

// Options are what a Detector needs of the agent that it serves.
type Options struct {
	Network  Network
	Views    *ownership.Timeline
	Outbox   *outbox.Outbox
	Counters *counters.Live
	Gate     *outage.Gate
	Log      *slog.Logger
	// RestartWait is how long an agent waits for others that may start again.
	RestartWait time.Duration
	// Steps counts the steps that Counters do not count.
	Steps *atomic.Int64
	// Banned are the agents that this agent has banned.
	Banned func() []ownership.Agent
	// IsBanned says that an agent is banned now.
	IsBanned func(id string) bool
	// IsLeaving says that this agent leaves.
	IsLeaving func() bool
	// HasAnnounced says that another agent has announced that it leaves.
	HasAnnounced func(instance string) bool
	// Founding is the hash of the first complete view, and how often the view has changed since.
	Founding func() (first uint64, changes int64)
	// Forgive is called when this agent is idle.
	Forgive func()
	// Wake wakes the distributor, which calls NegotiateEnd.
	Wake func()
	// Conclude is the last work of this agent, when the crawl has ended and all agents are still there.
	Conclude func(ctx context.Context)
}

// An idle agent asks the others less and less often, from the one period to the other.
const (
	period    = time.Second
	periodMax = 8 * time.Second
)

// crawlEnded is why nothing is fetched when the crawl has ended and some agents do not know it yet: what all agents
// were waiting for was due too late.
const crawlEnded = "the crawl is over; not all agents know it yet"

// Status is what an agent says of itself.
type Status struct {
	IsIdle bool   `json:"calm"`  // nothing to do, no message waits or is on its way
	Steps  int64  `json:"count"` // see Detector.StepCount
	View   uint64 `json:"view"`  // hash of the members of its view
	All    uint64 `json:"all"`   // hash of these and of the agents that it has banned
	// HasEnded says that it knows that the crawl has ended; Concludes that it is doing its last work, for which it may
	// ask the others.
	HasEnded  bool `json:"over"`
	Concludes bool `json:"busy"`
	// First is the hash of its first complete view, 0 if it had none; ViewChanges how often it has taken another view,
	// that first time included.
	First       uint64 `json:"first"`
	ViewChanges int64  `json:"turns"`
	// IsStalled says that it has queued URLs, all of sites that fail, or knows of an agent that has.
	IsStalled bool `json:"stalled"`
}

// Detector is the termination detection of one agent. Its methods are safe for concurrent use.
type Detector struct {
	o Options

	idleAt     atomic.Int64  // the step count at which this agent is idle; -1 if it is not
	wasIdle    atomic.Bool   // it was idle once, in this run
	becameIdle chan struct{} // capacity 1
	isResumed  bool

	hasEnded  atomic.Bool   // the crawl has ended
	concludes atomic.Bool   // this agent does its last work
	isStalled atomic.Bool   // when the crawl has ended: an agent has queued URLs, so that all agents end as stalled
	isLate    atomic.Bool   // the crawl ended before this agent had a part in it
	endFound  chan struct{} // capacity 1: another agent has found out that the crawl has ended
	ended     chan struct{} // closed when all agents know it
}

// New makes the Detector of an agent.
func New(o Options) *Detector {
	d := &Detector{
		o: o, becameIdle: make(chan struct{}, 1), endFound: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	d.idleAt.Store(-1)
	return d
}

// Begin is called before Run. resumed says that the agent has had a part in the crawl before.
func (d *Detector) Begin(resumed bool) { d.isResumed = resumed }

// StepCount grows with every step of this agent that could give another agent something to do. An attempt that brings
// nothing is none: agents that stall go on asking sites that fail.
func (d *Detector) StepCount() int64 {
	return d.o.Counters.URLsFound.Load() + d.o.Counters.Finished.Load() + d.o.Steps.Load()
}

// NegotiateEnd implements cluster.Termination: the other agents may have something for this one yet, so it never ends
// by itself. That this agent is no longer idle may come by time alone.
func (d *Detector) NegotiateEnd(wait time.Duration, reason string, busy bool, steps int64) (time.Duration, string) {
	if reason == "" {
		d.idleAt.Store(-1)
		return wait, ""
	}
	if busy {
		d.idleAt.Store(-1)
		return period, ""
	}
	d.idleAt.Store(steps)
	d.wasIdle.Store(true)
	d.o.Forgive()
	notify.Send(d.becameIdle)
	return period, ""
}

// HasEnded says that this agent knows that the crawl has ended.
func (d *Detector) HasEnded() bool { return d.hasEnded.Load() }

// Ended is closed when the crawl has ended and all agents know it.
func (d *Detector) Ended() <-chan struct{} { return d.ended }

// EndReason is why the crawl has ended, once Ended is closed.
func (d *Detector) EndReason() string {
	switch {
	case d.isLate.Load():
		return lifecycle.ReasonLate
	case hasFinished(d.o.Counters) && !d.isStalled.Load():
		return lifecycle.ReasonComplete
	}
	return lifecycle.ReasonStalled
}

// hasFinished says that all URLs of an agent have their outcome.
func hasFinished(n *counters.Live) bool { return n.Finished.Load() == n.URLsAdmitted.Load() }

// HadNoPart says that this agent has had no part in the crawl yet.
func (d *Detector) HadNoPart() bool {
	n := d.o.Counters
	return !d.isResumed && !d.o.IsLeaving() && n.Attempts.Load() == 0 && n.RobotsFetched.Load() == 0
}

// EndLate ends this agent, which had no part in the crawl, because the crawl has ended.
func (d *Detector) EndLate() {
	d.isLate.Store(true)
	notify.Send(d.endFound)
}

// Answer answers a question for which IsStatus or IsEnded is true. A banned agent learns how far this one is, and is
// not believed.
func (d *Detector) Answer(from string, question []byte) ([]byte, error) {
	now := d.status()
	if IsEnded(question) && !d.o.IsBanned(from) {
		d.noteEnded(&now, binary.BigEndian.Uint64(question[1:]), len(question) > 1+8)
	}
	return json.Marshal(now)
}

// IsStatus says that a question is message.QuestionStatus.
func IsStatus(question []byte) bool {
	return len(question) == 1 && question[0] == message.QuestionStatus
}

// IsEnded says that a question is message.QuestionEnded.
func IsEnded(question []byte) bool {
	return (len(question) == 1+8 || len(question) == 1+8+1) && question[0] == message.QuestionEnded
}

// noteEnded takes the word of another agent that the crawl has ended, if this agent was one of those that were idle at
// one moment, by their hash, and said so. It may have something to do again since: that was due later than the crawl
// waits. An agent that was killed meanwhile and started again has said nothing: it may have lost what it does again
// now. An agent that had no part in the crawl ends with it, else it would soon take the others for failed.
func (d *Detector) noteEnded(now *Status, agents uint64, stalled bool) {
	wasMember := agents == now.View || agents == now.All || now.IsIdle && d.o.Views.HadView(agents)
	switch {
	case d.wasIdle.Load() && wasMember:
		if stalled {
			d.isStalled.Store(true)
		}
		notify.Send(d.endFound)
	case d.HadNoPart():
		d.EndLate()
	}
}

// status is how far this agent is.
func (d *Detector) status() Status {
	steps, v := d.StepCount(), d.o.Views.Load()
	first, changes := d.o.Founding()
	return Status{
		IsIdle: d.idleAt.Load() == steps && d.isQuiet(), Steps: steps,
		View: v.Hash(), All: ownership.Hash(membersAndBanned(v, d.o.Banned())),
		HasEnded: d.hasEnded.Load(), Concludes: d.concludes.Load(), First: first, ViewChanges: changes,
		IsStalled: d.isStalled.Load() || !hasFinished(d.o.Counters),
	}
}

// isQuiet says that no message waits or is on its way, and that no agent which is gone, or about to go, knew something
// that the others have not been told yet.
func (d *Detector) isQuiet() bool {
	if d.o.IsLeaving() || slices.ContainsFunc(d.o.Network.Agents(),
		func(a ownership.Agent) bool { return d.o.HasAnnounced(a.Instance()) }) {
		return false
	}
	v := d.o.Views.Load()
	for _, instance := range d.o.Outbox.Agents() {
		if d.o.Outbox.Counts(instance).Backlog > 0 || !v.HasInstance(instance) {
			return false
		}
	}
	return true
}

// membersAndBanned are the members of a view and the agents that this one may have banned alone. These are there, and
// may have something to do.
func membersAndBanned(v *ownership.View, banned []ownership.Agent) []ownership.Agent {
	all := appendMissing(slices.Clone(v.Agents), banned)
	slices.SortFunc(all, func(a, b ownership.Agent) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// appendMissing appends the agents whose IDs are not among those that are there.
func appendMissing(all, more []ownership.Agent) []ownership.Agent {
	for _, a := range more {
		if !slices.ContainsFunc(all, func(b ownership.Agent) bool { return a.ID == b.ID }) {
			all = append(all, a)
		}
	}
	return all
}
