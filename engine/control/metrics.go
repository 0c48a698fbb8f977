package control

import (
	"reflect"

	"github.com/prometheus/client_golang/prometheus"

	"orbweaver/engine/report"
)

// collector turns a Report into Prometheus metrics when it is asked: nothing is counted twice. The fields of the report
// declare the metrics (report.Metric); what has another form is here and in peermetrics.go.
type collector struct {
	crawl   Crawl
	metrics []metric
	state   *prometheus.Desc
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
		peers:   newPeerMetrics(),
	}
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
	out <- prometheus.MustNewConstMetric(c.state, prometheus.GaugeValue, 1, string(r.State))
	if r.Cluster != nil {
		c.peers.collect(out, r.Cluster)
	}
}
