package agent

import (
	"context"
	"net/netip"
	"sync/atomic"
	"time"

	"orbweaver/engine/cluster/leasing"
	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/payloads"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/cluster/termination"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/layout"
	"orbweaver/warc/lookup"
)

// Connect joins the parts of this agent with each other and with the parts of the engine.
func (p *agent) Connect(parts Parts) {
	p.parts = parts
	// effects of messages that give an agent something to do, and that no counter of the journal counts
	steps := new(atomic.Int64)
	p.leaving = p.newLeaveRegister()
	p.connectPayloads()
	p.accounts = newAccounts(
		int64(max(parts.Options.PeerQuota, 0)), parts.Journal.Count.Finished.Load, p.leaving.Wake, parts.Log)
	p.leases = p.newLeases(parts.Live.AddrDelay)
	p.hosts.robots = &relay{
		views:      p.views,
		outbox:     p.files.outbox,
		sites:      parts.Robots,
		rules:      parts.Sites.Rules,
		isExcluded: parts.Frontier.HostRules.Excludes,
		steps:      steps,
	}
	p.RobotsRouter = p.hosts.robots
	p.Router = &router{
		views:    p.views,
		outbox:   p.files.outbox,
		robots:   p.hosts.robots,
		frontier: parts.Frontier,
		journal:  parts.Journal,
	}
	p.hosts.handoff = &giver{
		views:    p.views,
		outbox:   p.files.outbox,
		sites:    parts.Sites,
		queues:   parts.Queues,
		dead:     parts.Dead,
		counters: &parts.Journal.Count,
		log:      parts.Log,
		order:    parts.Order,
		route:    p.Route,
		forget:   p.hosts.robots.Forget,
	}
	p.pages = p.newPages()
	p.end = p.newDetector(steps)
	p.EndDetector = p.end
	p.senders = newSenders(senderOptions{
		Outbox:  p.files.outbox,
		Journal: parts.Journal,
		Log:     parts.Log,
		Send:    p.network.Send,
		Wake:    parts.Wake,
		Others:  func() int { return len(p.views.Load().Agents) - 1 },
		Attend: func(id, instance string) func(ctx context.Context) {
			return p.leases.AddRequester(id, instance).SendRequests
		},
	})
	p.connectViews()
	p.connectMessages()
}

// connectPayloads makes the parts that share payloads.
func (p *agent) connectPayloads() {
	parts := &p.parts
	p.files.stored = payloads.NewHolder(payloads.HolderOptions{
		FS:      parts.FS,
		Dir:     parts.Dir + "/" + layout.ArchiveDir,
		Stored:  func() *dedup.Map { return parts.Journal.Seen },
		Writing: func() lookup.Writing { return parts.Journal.Writer },
	})
	p.files.others = payloads.NewAsker(payloads.Options{
		Least:       parts.Options.Payloads,
		Dir:         parts.Dir + "/" + layout.AgentsDir,
		MemoryBytes: parts.DedupMemory,
		FS:          parts.FS,
		Self:        p.self.Instance(),
		Agents:      p.network.Agents,
		Ask:         p.network.Ask,
		Log:         parts.Log,
	})
	p.PayloadSharing = p.files.others
}

// connectViews makes the parts that decide about the ownership view.
func (p *agent) connectViews() {
	p.superseded = supersededCaptures{
		fs:        p.parts.FS,
		dir:       p.parts.Dir,
		journal:   p.parts.Journal,
		views:     p.views,
		network:   p.network,
		agentsMax: p.parts.Options.Recover,
		storesAll: p.parts.StoresAll,
		log:       p.parts.Log,
	}
	p.members = members{
		network:  p.network,
		views:    p.views,
		leaving:  p.leaving,
		accounts: p.accounts,
		awayMax:  p.parts.Options.AgentAway,
	}
	p.installer = viewInstaller{
		self:       p.self.ID,
		method:     p.parts.Options.Assign,
		history:    &p.history,
		journal:    p.parts.Journal,
		views:      p.views,
		outbox:     p.files.outbox,
		leases:     p.leases,
		handoff:    p.hosts.handoff,
		superseded: &p.superseded,
		log:        p.parts.Log,
	}
}

// connectMessages makes the parts that take messages, answer questions and send again what lost agents were sent.
func (p *agent) connectMessages() {
	taken := &items{
		instance: p.self.Instance(),
		frontier: p.parts.Frontier,
		sites:    p.parts.Sites,
		order:    p.parts.Order,
		views:    p.views,
		outbox:   p.files.outbox,
		robots:   p.hosts.robots,
		fetched:  p.files.fetched,
	}
	p.lost = lostAgents{
		network:  p.network,
		members:  &p.members,
		leaving:  p.leaving,
		outbox:   p.files.outbox,
		fetched:  p.files.fetched,
		senders:  p.senders,
		leases:   p.leases,
		journal:  p.parts.Journal,
		frontier: p.parts.Frontier,
		items:    taken,
	}
	p.server = server{
		authority: authority{
			instance: p.self.Instance(),
			network:  p.network,
			views:    p.views,
			history:  &p.history,
			accounts: p.accounts,
			leaving:  p.leaving,
			robots:   p.hosts.robots,
			fetched:  p.files.fetched,
			sites:    p.parts.Sites,
			log:      p.parts.Log,
		},
		questions: questions{
			end:      p.end,
			pages:    p.pages,
			leases:   p.leases,
			leaving:  p.leaving,
			lost:     &p.lost,
			views:    p.views,
			urls:     &p.server.urls,
			payloads: p.files.stored,
			wake:     p.parts.Wake,
			consensus: func(ctx context.Context, from string, content []byte) ([]byte, error) {
				return p.quorum.Answer(ctx, from, content)
			},
		},
		urls:     urlQuestions{network: p.network},
		items:    taken,
		accounts: p.accounts,
		journal:  p.parts.Journal,
		frontier: p.parts.Frontier,
		sites:    p.parts.Sites,
		wake:     p.parts.Wake,
	}
	p.URLQuestions = &p.server.urls
}

// newFollower makes the loop that follows membership, when it is known whether there is a quorum.
func (p *agent) newFollower() *follower {
	return &follower{
		self:      p.self,
		network:   p.network,
		history:   &p.history,
		members:   &p.members,
		installer: &p.installer,
		lost:      &p.lost,
		views:     p.views,
		quorum:    p.quorum,
		end:       p.end,
		leaving:   p.leaving,
		outbox:    p.files.outbox,
		senders:   p.senders,
		leases:    p.leases,
		handler:   &p.server,
		wake:      p.parts.Wake,
		lose:      p.parts.Lose,
		beginning: beginning{
			network:      p.network,
			history:      &p.history,
			views:        p.views,
			quorum:       p.quorum,
			end:          p.end,
			gate:         p.parts.Gate,
			agentsMin:    p.parts.Options.Agents,
			isInvited:    p.parts.Options.Invited,
			joinedSignal: p.joinedSignal,
		},
	}
}

// newPages makes the page recovery.
func (p *agent) newPages() *recovery.Pages {
	return recovery.NewPages(recovery.PagesOptions{
		Self:          p.self.Instance(),
		Fetched:       p.files.fetched,
		HashSeed:      func() uint64 { return p.parts.Frontier.HashSeed },
		Views:         p.views,
		InFlight:      p.parts.InFlight,
		Most:          p.parts.Options.Recover,
		Changes:       p.history.viewChanges.Load,
		BeganTogether: p.history.beganTogether.Load,
		Leaving:       p.leaving.Leaving,
		IsThere:       p.network.isThere,
		SpeaksFor:     p.lost.speaksFor,
		Ask:           p.network.askInTime,
		AwaitDurable:  func(ctx context.Context) error { return p.parts.Journal.AwaitAll(ctx) },
	})
}

// newLeaveRegister makes the list of agents that leave.
func (p *agent) newLeaveRegister() *leave.Register {
	return leave.New(leave.Options{
		Self:     p.self.Instance(),
		Agents:   p.network.Agents,
		Log:      p.parts.Log,
		Ask:      p.network.askInTime,
		HasEnded: func() bool { return p.end.HasEnded() },
	})
}

// newDetector makes the termination detection. steps counts what no counter of the journal counts.
func (p *agent) newDetector(steps *atomic.Int64) *termination.Detector {
	accounts := p.accounts
	return termination.New(termination.Options{
		Network:      p.network,
		Views:        p.views,
		Outbox:       p.files.outbox,
		Counters:     &p.parts.Journal.Count,
		Gate:         p.parts.Gate,
		Log:          p.parts.Log,
		RestartWait:  p.parts.Options.AgentAway,
		Steps:        steps,
		Banned:       p.members.bannedAgents,
		IsBanned:     func(id string) bool { return accounts.BannedFor(id, time.Now()) > 0 },
		IsLeaving:    p.leaving.IsLeaving,
		HasAnnounced: p.leaving.HasAnnounced,
		Founding:     p.history.founding,
		Forgive:      accounts.ForgiveAll,
		Wake:         p.parts.Wake,
		Conclude:     p.superseded.mark,
	})
}

// newLeases makes the leases of addresses, with the delay between two exchanges with one.
func (p *agent) newLeases(delay func(key netip.Addr) time.Duration) *leasing.Leases {
	return leasing.New(leasing.Options{
		Self:     p.self.ID,
		Instance: p.self.Instance(),
		Log:      p.parts.Log,
		Delay:    delay,
		Ask: func(ctx context.Context, agent string, question []byte) ([]byte, error) {
			return p.network.Ask(ctx, agent, question)
		},
		Grace:         func() time.Duration { return p.views.Grace },
		CautiousUntil: p.views.CautiousUntil,
		MayGrant:      func() bool { return p.quorum.MayFetch() },
		Unauthorised: func(from, statement string) {
			p.server.authority.noteUnauthorised(from, message.QuestionLease, statement)
		},
	})
}
