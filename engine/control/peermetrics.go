package control

import (
	"github.com/prometheus/client_golang/prometheus"

	"orbweaver/engine/cluster"
)

// peerMetrics are those of a crawl that several agents share. URLs that were handed over are among the outcomes.
type peerMetrics struct {
	totals, gauges []peerMetric
	agents         *prometheus.Desc
	share, waiting *prometheus.Desc
	banned         *prometheus.Desc
	byAgent        []agentMetric
	majority       *prometheus.Desc // with --quorum alone
}

type peerMetric struct {
	desc  *prometheus.Desc
	value func(p *cluster.StatusReport) float64
}

// agentMetric is a counter of what came from one agent.
type agentMetric struct {
	desc  *prometheus.Desc
	value func(a *cluster.AgentReport) int64
}

func newPeerMetrics() peerMetrics {
	one := func(name, help string, value func(p *cluster.StatusReport) float64) peerMetric {
		return peerMetric{prometheus.NewDesc("orbweaver_peers_"+name, help, nil, nil), value}
	}
	many := func(name, help, label string) *prometheus.Desc {
		return prometheus.NewDesc("orbweaver_peers_"+name, help, []string{label}, nil)
	}
	return peerMetrics{
		totals: []peerMetric{
			one("links_sent_total", "URLs sent to the agents that are responsible for them: e.", func(p *cluster.StatusReport) float64 { return float64(p.LinksSent) }),
			one("links_received_total", "URLs that other agents sent.", func(p *cluster.StatusReport) float64 { return float64(p.LinksReceived) }),
			one("links_out_total", "Links found that lead to another host than where they were.", func(p *cluster.StatusReport) float64 { return float64(p.LinksOut) }),
			one("letters_sent_total", "Letters that other agents have acknowledged, in this run.", func(p *cluster.StatusReport) float64 { return float64(p.LettersSent) }),
			one("letters_received_total", "Letters of other agents that were taken, in this run.", func(p *cluster.StatusReport) float64 { return float64(p.LettersReceived) }),
			one("letters_failed_total", "Letters that did not arrive, and are sent again, in this run.", func(p *cluster.StatusReport) float64 { return float64(p.LettersFailed) }),
			one("letters_held_total", "Letters for which the other agent had no room yet, and that are sent again, in this run.", func(p *cluster.StatusReport) float64 { return float64(p.LettersHeld) }),
			one("letters_refused_total", "Letters that could not be read, there or here, in this run.", func(p *cluster.StatusReport) float64 { return float64(p.LettersRefused) }),
			one("strangers_refused_total", "Letters and questions refused in this run since their sender is not a member of the crawl, as this agent knows it.",
				func(p *cluster.StatusReport) float64 { return float64(p.Strangers) }),
			one("leases_wished_total", "Addresses that this agent wished to ask, in this run.", func(p *cluster.StatusReport) float64 { return float64(p.LeasesWished) }),
			one("leases_asked_total", "Questions in which such wishes went to other agents, in this run.", func(p *cluster.StatusReport) float64 { return float64(p.LeasesAsked) }),
			one("leases_unanswered_total", "Questions for addresses that were not answered, in this run.", func(p *cluster.StatusReport) float64 { return float64(p.LeasesUnanswered) }),
			one("leases_aborted_total", "Exchanges aborted since the lease of the address ended, in this run.", func(p *cluster.StatusReport) float64 { return float64(p.LeasesAborted) }),
			one("sent_bytes_total", "Bytes of letters sent, before they were packed, in this run.", func(p *cluster.StatusReport) float64 { return float64(p.BytesSent) }),
			one("received_bytes_total", "Bytes of letters received, after they were unpacked, in this run.", func(p *cluster.StatusReport) float64 { return float64(p.BytesReceived) }),
		},
		gauges: []peerMetric{
			one("overhead", "URLs sent for each page crawled: e/n.", func(p *cluster.StatusReport) float64 { return p.Overhead }),
			one("lambda", "Links to other hosts for each page crawled.", func(p *cluster.StatusReport) float64 { return p.Lambda }),
			one("leases_kept", "Addresses that this agent has leased to somebody, itself among them.", func(p *cluster.StatusReport) float64 { return float64(p.LeasesKept) }),
		},
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
	for _, t := range m.totals {
		out <- prometheus.MustNewConstMetric(t.desc, prometheus.CounterValue, t.value(p))
	}
	for _, g := range m.gauges {
		out <- prometheus.MustNewConstMetric(g.desc, prometheus.GaugeValue, g.value(p))
	}
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
