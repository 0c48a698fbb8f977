package control

import (
	"github.com/prometheus/client_golang/prometheus"

	"orbweaver/engine/cluster"
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
		return prometheus.NewDesc("orbweaver_peers_"+name, help, []string{label}, nil)
	}
	return peerMetrics{
		agents:  many("agents", "Agents by state, this one among them.", "state"),
		share:   many("share", "Part of all hosts that an agent is responsible for.", "agent"),
		waiting: many("waiting", "URLs in the outbox for an agent.", "agent"),
		byAgent: []agentMetric{
			{many("told_to_wait_total", "Letters and questions of an agent that were not taken in this run since it was over its quota; it sends them again.", "agent"),
				func(a *cluster.AgentReport) int64 { return a.ToldToWait }},
			{many("statements_not_taken_total", "Statements in letters of an agent that were left out in this run since it has no authority to make them.", "agent"),
				func(a *cluster.AgentReport) int64 { return a.NotTaken }},
		},
		banned:   many("banned", "1 if letters and questions of an agent are refused for a while.", "agent"),
		majority: prometheus.NewDesc("orbweaver_peers_majority", "1 if a majority of the agents that were agreed on answers, so that this one may fetch; 0 if not.", nil, nil),
	}
}

func (m *peerMetrics) collect(out chan<- prometheus.Metric, p *cluster.StatusReport) {
	states := map[cluster.AgentState]int{cluster.AgentAlive: 0, cluster.AgentSuspected: 0, cluster.AgentDead: 0, cluster.AgentLeft: 0, cluster.AgentUnproven: 0}
	for _, a := range p.Agents {
		states[a.State]++
		out <- prometheus.MustNewConstMetric(m.share, prometheus.GaugeValue, a.Share, a.ID)
		out <- prometheus.MustNewConstMetric(m.waiting, prometheus.GaugeValue, float64(a.Waiting), a.ID)
		for _, m := range m.byAgent {
			out <- prometheus.MustNewConstMetric(m.desc, prometheus.CounterValue, float64(m.value(&a)), a.ID)
		}
		banned := 0.0
		if a.Banned != "" {
			banned = 1
		}
		out <- prometheus.MustNewConstMetric(m.banned, prometheus.GaugeValue, banned, a.ID)
	}
	if q := p.Quorum; q != nil {
		has := 0.0
		if q.Majority {
			has = 1
		}
		out <- prometheus.MustNewConstMetric(m.majority, prometheus.GaugeValue, has)
	}
	for state, n := range states {
		out <- prometheus.MustNewConstMetric(m.agents, prometheus.GaugeValue, float64(n), string(state))
	}
}
