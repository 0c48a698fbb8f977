package control

import (
	"reflect"
	"runtime"
	"runtime/debug"

	"github.com/prometheus/client_golang/prometheus"

	"orbweaver/engine/operate/report"
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
