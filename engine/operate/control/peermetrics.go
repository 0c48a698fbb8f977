package control

import (
	"github.com/prometheus/client_golang/prometheus"

	"orbweaver/engine/state/cluster"
)

// peerMetrics are the metrics about other agents that have labels, or are no single numbers of cluster.StatusReport.
type peerMetrics struct {
	agents         *prometheus.Desc
	share, waiting *prometheus.Desc
	banned         *prometheus.Desc
	byAgent        []agentMetric
	majority       *prometheus.Desc // with --quorum alone
}

// agentMetric is a counter of what came from one agent.
type agentMetric struct {
	desc  *prometheus.Desc
	value func(a *cluster.AgentReport) int64
}

func newPeerMetrics() peerMetrics {
	many := func(name, help, label string) *prometheus.Desc {
		return prometheus.NewDesc("orbweaver_cluster_"+name, help, []string{label}, nil)
	}
	return peerMetrics{
		agents:  many("agents", "Agents by state, this agent included.", "state"),
		share:   many("share", "Part of all hosts that an agent owns.", "agent"),
		waiting: many("urls_waiting", "URLs in the outbox for an agent.", "agent"),
		byAgent: []agentMetric{
			{
				many("messages_over_quota_total",
					"Messages and requests of an agent that were deferred because it was over its quota, in this run.", "agent"),
				func(a *cluster.AgentReport) int64 { return a.MessagesOverQuota },
			},
			{
				many("statements_refused_total",
					"Statements in messages of an agent that has no authority to make them, in this run.", "agent"),
				func(a *cluster.AgentReport) int64 { return a.StatementsRefused },
			},
		},
		banned: many("agent_banned", "1 while messages and requests of an agent are refused.", "agent"),
		majority: prometheus.NewDesc("orbweaver_cluster_has_lease",
			"1 if this agent has a lease of the majority and may fetch, otherwise 0.", nil, nil),
	}
}

func (m *peerMetrics) collect(out chan<- prometheus.Metric, p *cluster.StatusReport) {
	states := map[cluster.AgentState]int{
		cluster.AgentAlive: 0, cluster.AgentSuspected: 0, cluster.AgentDead: 0, cluster.AgentLeft: 0,
		cluster.AgentUnproven: 0,
	}
	for _, a := range p.Agents {
		states[a.State]++
		out <- prometheus.MustNewConstMetric(m.share, prometheus.GaugeValue, a.Share, a.ID)
		out <- prometheus.MustNewConstMetric(m.waiting, prometheus.GaugeValue, float64(a.URLsWaiting), a.ID)
		for _, m := range m.byAgent {
			out <- prometheus.MustNewConstMetric(m.desc, prometheus.CounterValue, float64(m.value(&a)), a.ID)
		}
		banned := 0.0
		if a.BannedUntil != "" {
			banned = 1
		}
		out <- prometheus.MustNewConstMetric(m.banned, prometheus.GaugeValue, banned, a.ID)
	}
	if q := p.Quorum; q != nil {
		has := 0.0
		if q.HasLease {
			has = 1
		}
		out <- prometheus.MustNewConstMetric(m.majority, prometheus.GaugeValue, has)
	}
	for state, n := range states {
		out <- prometheus.MustNewConstMetric(m.agents, prometheus.GaugeValue, float64(n), string(state))
	}
}
