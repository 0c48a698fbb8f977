package control

import (
	"github.com/prometheus/client_golang/prometheus"

	"orbweaver/engine/report"
)

// collector turns a Report into Prometheus metrics when it is asked: nothing is counted twice.
type collector struct {
	crawl  Crawl
	totals []metric
	gauges []metric
	byName []labelled
	state  *prometheus.Desc
	peers  peerMetrics
}

type metric struct {
	desc  *prometheus.Desc
	value func(r *report.Report) float64
}

type labelled struct {
	desc   *prometheus.Desc
	values func(r *report.Report) map[string]int64
}

func newCollector(c Crawl) *collector {
	one := func(name, help string, value func(r *report.Report) float64) metric {
		return metric{prometheus.NewDesc("orbweaver_"+name, help, nil, nil), value}
	}
	many := func(name, help, label string, values func(r *report.Report) map[string]int64) labelled {
		return labelled{prometheus.NewDesc("orbweaver_"+name, help, []string{label}, nil), values}
	}
	return &collector{
		crawl: c,
		totals: []metric{
			one("urls_found_total", "Links and seeds met, repetitions included.", func(r *report.Report) float64 { return float64(r.URLsFound) }),
			one("urls_admitted_total", "New URLs in scope.", func(r *report.Report) float64 { return float64(r.URLsAdmitted) }),
			one("pages_stored_total", "Pages stored as response records.", func(r *report.Report) float64 { return float64(r.PagesStored) }),
			one("pages_unchanged_total", "Pages that the server called unchanged, in this pass.", func(r *report.Report) float64 { return float64(r.PagesUnchanged) }),
			one("revisits_stored_total", "Pages stored as revisit records.", func(r *report.Report) float64 { return float64(r.RevisitsStored) }),
			one("pages_not_parsed_total", "Pages that were not searched for links.", func(r *report.Report) float64 { return float64(r.PagesNotParsed) }),
			one("attempts_total", "Exchanges for pages.", func(r *report.Report) float64 { return float64(r.Attempts) }),
			one("retries_total", "Exchanges that must be repeated.", func(r *report.Report) float64 { return float64(r.Retries) }),
			one("connections_reused_total", "Exchanges over a connection that was kept, in this run.", func(r *report.Report) float64 { return float64(r.ConnsReused) }),
			one("robots_fetched_total", "Exchanges for robots.txt.", func(r *report.Report) float64 { return float64(r.RobotsFetched) }),
			one("crawl_delays_capped_total", "Files robots.txt that asked for a longer Crawl-delay than is kept.", func(r *report.Report) float64 { return float64(r.DelaysCapped) }),
			one("retry_after_clamped_total", "Answers with a Retry-After below nothing or beyond a day.", func(r *report.Report) float64 { return float64(r.RetryClamped) }),
			one("ip_slowdowns_total", "Exchanges whose IP then waited for longer, since several of its sites were in trouble.", func(r *report.Report) float64 { return float64(r.IPsSlowed) }),
			one("received_bytes_total", "Response bytes as on the wire.", func(r *report.Report) float64 { return float64(r.BytesReceived) }),
			one("stored_bytes_total", "Bytes of WARC files.", func(r *report.Report) float64 { return float64(r.BytesStored) }),
			one("cookies_refused_total", "Cookies that were not kept since there was no memory for them, in this run.", func(r *report.Report) float64 { return float64(r.CookiesLost) }),
			one("cache_lookups_total", "Look-ups in the fingerprint cache.", func(r *report.Report) float64 { return float64(r.CacheLookups) }),
			one("cache_hits_total", "Hits in the fingerprint cache.", func(r *report.Report) float64 { return float64(r.CacheHits) }),
			one("sites_frozen_total", "Moves of sites to disk, in this run.", func(r *report.Report) float64 { return float64(r.HostsFrozen) }),
			one("sites_thawed_total", "Moves of sites from disk, in this run.", func(r *report.Report) float64 { return float64(r.HostsThawed) }),
			one("novelty_pages_read_total", "Pages compared with what their site had said, in this run.", func(r *report.Report) float64 { return float64(r.NoveltyRead) }),
			one("novelty_evicted_total", "Sites whose novelty was forgotten for want of memory, in this run.", func(r *report.Report) float64 { return float64(r.NoveltyEvicted) }),
			one("cpu_seconds_total", "Processor time of all runs of this crawl.", func(r *report.Report) float64 { return r.CPUSeconds }),
		},
		gauges: []metric{
			one("urls_queued", "Admitted URLs without an outcome yet.", func(r *report.Report) float64 { return float64(r.URLsQueued) }),
			one("urls_in_flight", "URLs being fetched, read or kept.", func(r *report.Report) float64 { return float64(r.URLsInFlight) }),
			one("sites", "Sites known.", func(r *report.Report) float64 { return float64(r.HostsKnown) }),
			one("sites_cold", "Of these, on disk: idle for long while memory was short.", func(r *report.Report) float64 { return float64(r.HostsCold) }),
			one("cookies", "Cookies kept, of all sites.", func(r *report.Report) float64 { return float64(r.Cookies) }),
			one("novelty_watched", "Sites and domains whose novelty is watched.", func(r *report.Report) float64 { return float64(r.NoveltyWatched) }),
			one("novelty_poor", "Parts of sites that bring nothing new.", func(r *report.Report) float64 { return float64(r.NoveltyPoor) }),
			one("ips", "IP addresses known, of sites that are not on disk, or not due yet.", func(r *report.Report) float64 { return float64(r.IPsKnown) }),
			one("front_ips", "IP addresses with something due within a second.", func(r *report.Report) float64 { return float64(r.Front) }),
			one("active_fetches", "Fetch workers in an exchange.", func(r *report.Report) float64 { return float64(r.ActiveFetches) }),
			one("sieve_fingerprints", "Fingerprints in the sieve's store.", func(r *report.Report) float64 { return float64(r.SieveSize) }),
			one("sieve_pending", "Fingerprints waiting for a flush.", func(r *report.Report) float64 { return float64(r.SievePending) }),
			one("bad_encodings", "Pages whose content encoding lies, is damaged or unpacks to too much.", func(r *report.Report) float64 { return float64(r.BadEncodings) }),
			one("content_types_cut", "Responses of this run whose media type is too long for crawl.log and the index.", func(r *report.Report) float64 { return float64(r.LongTypes) }),
			one("parse_faults", "Pages whose parse panicked.", func(r *report.Report) float64 { return float64(r.ParseFaults) }),
		},
		byName: []labelled{
			many("outcomes_total", "Admitted URLs by final outcome.", "outcome", func(r *report.Report) map[string]int64 { return r.Outcomes }),
			many("responses_total", "Responses by status code.", "code", func(r *report.Report) map[string]int64 { return r.Statuses }),
			many("certificate_faults_total", "Exchanges with servers whose certificate does not verify, by fault, in this run.", "fault", func(r *report.Report) map[string]int64 { return r.CertificateFaults }),
			many("dropped_total", "URLs dropped at the door, by reason.", "reason", func(r *report.Report) map[string]int64 { return r.Dropped }),
			many("filter_errors_total", "Evaluations of expressions that failed, by point, in this run.", "point", func(r *report.Report) map[string]int64 { return r.FilterErrors }),
		},
		state: prometheus.NewDesc("orbweaver_state", "1 for the state the crawl is in.", []string{"state"}, nil),
		peers: newPeerMetrics(),
	}
}

// Describe sends nothing: the set of label values is open, so the collector is unchecked.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect takes one report and sends all metrics of it.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	r := c.crawl.Report()
	for _, m := range c.totals {
		out <- prometheus.MustNewConstMetric(m.desc, prometheus.CounterValue, m.value(&r))
	}
	for _, m := range c.gauges {
		out <- prometheus.MustNewConstMetric(m.desc, prometheus.GaugeValue, m.value(&r))
	}
	for _, m := range c.byName {
		for name, n := range m.values(&r) {
			out <- prometheus.MustNewConstMetric(m.desc, prometheus.CounterValue, float64(n), name)
		}
	}
	out <- prometheus.MustNewConstMetric(c.state, prometheus.GaugeValue, 1, string(r.State))
	if r.Peers != nil {
		c.peers.collect(out, r.Peers)
	}
}
