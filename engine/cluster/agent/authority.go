package agent

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/cluster/termination"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// authority decides which messages and questions of other agents are taken, before anything is stored or believed.
// Package transport has proved the ID of the sender by its certificate. Here the agent asks for more:
//
//   - The sender must be a member of the current view or of a recent one (isMember).
//   - The sender must keep its quota of items and of questions (package quota).
//   - The sender must have the authority for what a message says (permit). What it may not say is cut out before the
//     message goes into the journal, so a replay of the journal needs no authority. What is cut out is counted and
//     logged. It is no fault of the sender: honest agents may disagree for some seconds on which agents there are.
//
// The authority for each kind of item:
//
//	H  any member, as of L: a link says how deep it is, too.
//	L  any member. The flag of a seed is never taken: seeds have no limits, and each agent reads its own.
//	S  URLs: any member. What is known of the site (delay, robots.txt rules, counters): an agent that owned it.
//	R  an agent that owns the site whose robots.txt it is; or the agent that this one asked for it.
//	V  the agent that this one asked for this robots.txt.
//	F  the agent itself, for its own list, with one hash seed for each agent. Lists of agents that left before: a few
//	   from each member.
//	T  an agent that has told that it leaves.
type authority struct {
	instance string // this agent
	network  peers
	views    *ownership.Timeline
	history  *crawlHistory
	accounts *accounts
	leaving  *leave.Register
	robots   *relay
	fetched  *recovery.FetchedURLs
	sites    *sites.Table
	log      *slog.Logger

	noMember     atomic.Int64 // messages and questions of agents that are no members, in this run
	unauthorised atomic.Int64 // statements that their senders may not make, in this run
}

// errNoMember says that a message is not taken since its sender is not a member. The sender keeps the message and sends
// it again.
var errNoMember = errors.New("agent: the sender is not a member of this crawl, as this agent knows it")

// earlyWait is after how long another agent sends a site again to an agent that has just come.
const earlyWait = time.Second

// fetchedListsMax is from how many agents this one keeps lists of fetched URLs. Each look-up hashes the URL once for
// each list.
const fetchedListsMax = 128

// isMember says that an agent is alive, or a member of the view or of a recent one.
func (a *authority) isMember(id string) bool {
	return a.views.HasMember(id) ||
		slices.ContainsFunc(a.network.Agents(), func(other ownership.Agent) bool { return other.ID == id })
}

// checkSender says why nothing of an agent is taken now; nil if it is.
func (a *authority) checkSender(from string) error {
	if !a.isMember(from) {
		if a.noMember.Add(1) == 1 {
			a.log.Warn("messages of an agent are refused that is not a member of this crawl", "agent", from)
		}
		return fmt.Errorf("%w: %.80q", errNoMember, from)
	}
	return a.accounts.CheckBan(from)
}

// checkQuestion says why a question is not answered now; nil if it is. Any agent may ask the two questions that change
// nothing: one that has just come asks them before the others know it, and one that is banned must learn that the crawl
// ends. All such agents share one quota. A banned one may also say that the crawl is over: it gets an answer and is not
// believed.
func (a *authority) checkQuestion(from string, question []byte) error {
	harmless := termination.IsStatus(question) || len(question) > 1 && len(question) <= 1+ownership.InstanceMax &&
		question[0] == message.QuestionLeft
	switch banned := a.accounts.BannedFor(from, time.Now()) > 0; {
	case harmless && (banned || !a.isMember(from)), banned && termination.IsEnded(question):
		return a.accounts.ChargeQuestion("", len(question))
	}
	if err := a.checkSender(from); err != nil {
		return err
	}
	return a.accounts.ChargeQuestion(from, len(question))
}

// noteUnauthorised counts a statement in a question that its sender may not make.
func (a *authority) noteUnauthorised(from string, kind byte, statement string) {
	a.unauthorised.Add(1)
	a.accounts.NoteUnauthorised(from, kind, statement)
}

// hasOwned says that an agent owns a site, or owned it recently.
func (a *authority) hasOwned(from string, site []byte) bool {
	return a.views.HasOwned(from, site, a.history.startsLate())
}

// isEarly says that this agent does not know yet whether others had begun before it came.
func (a *authority) isEarly() bool { return !a.history.isResumed && !a.views.HasArrived() }

// permit gives the items that their sender has the authority to say. isChanged says that these are not all of them, or
// not as they were.
func (a *authority) permit(from string, items []message.Item) (kept []message.Item, isChanged bool, err error) {
	var n int64
	isWhole := true
	for i := range items {
		item := &items[i]
		isChanged = item.ClearSeeds() || isChanged
		why := ""
		if permit := itemKindOf(item.Kind()).permit; permit != nil {
			var isCut bool
			if why, isCut, err = permit(a, from, item); err != nil {
				return nil, false, err
			}
			isChanged = isChanged || isCut
		}
		switch {
		case why == "" && !isWhole:
			kept = append(kept, *item)
		case why != "" && isWhole:
			isWhole, kept = false, slices.Clone(items[:i])
		}
		if why == "" {
			continue
		}
		n++
		a.accounts.NoteUnauthorised(from, item.Kind(), why)
		if item.Site != nil { // its URLs are taken from any member
			kept = append(kept, item.Site.Links()...)
		}
	}
	a.unauthorised.Add(n)
	if isWhole {
		return items, isChanged, nil
	}
	return kept, true, nil
}

// permitSite takes what is known of a site from an agent that owns it or owned it. From any other member it takes
// the URLs alone.
func (a *authority) permitSite(from string, item *message.Item) (why string, _ bool, err error) {
	switch {
	case a.hasOwned(from, item.Site.Key):
		return "", false, nil
	case a.isEarly():
		return "", false, &peering.WaitError{Wait: earlyWait}
	default:
		return "what is known of a site for which it was not responsible", false, nil
	}
}

// permitRobotsRedirect takes a redirect from an owner of the site whose rules it is for, or from the agent that was
// asked for these.
func (a *authority) permitRobotsRedirect(from string, item *message.Item) (why string, _ bool, err error) {
	if item.URL.Redirects > robots.RedirectsMax ||
		a.robots.AskedAgent(item.URL.RobotsOf) != from && !a.hasOwned(from, item.URL.RobotsOf) {
		why = "a redirect of the robots.txt of a site that is not its own"
	}
	return why, false, nil
}

// permitRobotsResult takes rules from the agent that was asked for them.
func (a *authority) permitRobotsResult(from string, item *message.Item) (why string, _ bool, err error) {
	if a.robots.AskedAgent(item.Robots.Site) != from {
		why = "robots.txt rules that it was not asked for"
	}
	return why, false, nil
}

// permitFetched takes an agent's list of what it has fetched, and lists of agents that left before it.
func (a *authority) permitFetched(from string, item *message.Item) (why string, _ bool, err error) {
	return a.refuseFetched(from, item.Fetched.List), false, nil
}

// refuseFetched says why a list is not taken; empty if it is.
func (a *authority) refuseFetched(from string, of cluster.FetchedList) (why string) {
	if !ownership.IsInstance(of.Instance) || of.Instance == a.instance {
		return "a list of fetched URLs of no other agent"
	}
	lists := a.fetched.Lists()
	i := slices.IndexFunc(lists, func(known cluster.FetchedList) bool { return known.Instance == of.Instance })
	switch {
	case i >= 0 && lists[i].Seed != of.Seed:
		return "a second list of one agent"
	case i >= 0:
		return ""
	case len(lists) >= fetchedListsMax:
		return "one more list of fetched URLs than are kept"
	case of.Instance == leave.InstanceOf(a.network.Agents(), from):
		return ""
	}
	if id := ownership.AgentID(of.Instance); id == from || leave.InstanceOf(a.network.Agents(), id) == of.Instance ||
		!a.accounts.MayPassOn(from, of.Instance) {
		return "the list of another agent"
	}
	return ""
}

// permitRetained takes what a leaving agent sent to others. An agent that is not known to leave must wait: it announces
// that it leaves again, and sends the message again.
func (a *authority) permitRetained(from string, item *message.Item) (why string, isChanged bool, err error) {
	if instance := leave.InstanceOf(a.network.Agents(), from); instance == "" || !a.leaving.HasAnnounced(instance) {
		return "", false, &peering.WaitError{Wait: quotaWait}
	}
	part := item.Retained
	n := len(part.Items)
	// Of a redirect of a robots.txt nothing is taken: the owner of the site asks again. Of a site only the URLs are: see
	// takeSite.
	part.Items = slices.DeleteFunc(part.Items, func(one message.Item) bool { return one.Kind() == message.RobotsRedirect })
	for i := range part.Items {
		isChanged = part.Items[i].ClearSeeds() || isChanged
	}
	if isChanged = isChanged || len(part.Items) < n; isChanged {
		item.Bytes = message.Join(message.AppendRetained(nil, part.Instance), part.Items)
	}
	return "", isChanged, nil
}
