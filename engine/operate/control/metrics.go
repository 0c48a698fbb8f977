package control

import (
	"reflect"
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"

	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/histogram"
)

// collector turns a Report into Prometheus metrics when it is asked: nothing is counted twice. The fields of the report
// declare the metrics (report.Metric); what has another form is here and in peermetrics.go.
type collector struct {
	crawl   Crawl
	metrics []metric
	state   *prometheus.Desc
	build   *prometheus.Desc
	commit  string // of the program, if the go command recorded it
	peers   peerMetrics
}

type metric struct {
	report.Metric
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// metricPrefix begins the name of each metric.
const metricPrefix = "orbweaver_"

func newCollector(c Crawl) *collector {
	return &collector{
		crawl:   c,
		metrics: metricsOf(reflect.TypeFor[report.Report]()),
		state:   prometheus.NewDesc("orbweaver_state", "1 for the state the crawl is in.", []string{"state"}, nil),
		build: prometheus.NewDesc("orbweaver_build_info", "1, with the version of the program as labels.",
			[]string{"version", "revision", "goversion"}, nil),
		commit: commitOf(debug.ReadBuildInfo()),
		peers:  newPeerMetrics(),
	}
}

// commitOf is the commit that the program was built from, as the go command recorded it; empty if it did not.
func commitOf(info *debug.BuildInfo, ok bool) string {
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}

// metricsOf describes the metrics of a report of some type.
func metricsOf(t reflect.Type) (list []metric) {
	for _, m := range report.MetricsOf(t) {
		var labels []string
		if m.Label != "" {
			labels = []string{m.Label}
		}
		kind := prometheus.GaugeValue
		if m.IsCounter() {
			kind = prometheus.CounterValue
		}
		list = append(list, metric{m, prometheus.NewDesc(metricPrefix+m.Name, m.Help, labels, nil), kind})
	}
	return list
}

// collect sends the metrics of a report.
func collect(out chan<- prometheus.Metric, list []metric, r reflect.Value) {
	for _, m := range list {
		if m.IsHistogram() {
			m.EachDistribution(r, func(s histogram.Snapshot, labels ...string) {
				out <- prometheus.MustNewConstHistogram(m.desc, uint64(s.Count()), s.Sum, s.Cumulative(), labels...)
			})
			continue
		}
		m.Each(r, func(value float64, labels ...string) {
			out <- prometheus.MustNewConstMetric(m.desc, m.kind, value, labels...)
		})
	}
}

// Describe sends nothing: the set of label values is open, so the collector is unchecked.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect takes one report and sends all metrics of it.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	r := c.crawl.Report()
	collect(out, c.metrics, reflect.ValueOf(r))
	out <- prometheus.MustNewConstMetric(c.build, prometheus.GaugeValue, 1, r.Version, c.commit, runtime.Version())
	out <- prometheus.MustNewConstMetric(c.state, prometheus.GaugeValue, 1, string(r.State))
	if r.Cluster != nil {
		c.peers.collect(out, r.Cluster)
	}
}

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
