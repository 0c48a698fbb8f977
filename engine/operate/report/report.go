package report

import (
	"encoding/json"
	"fmt"
	"io"

	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/operate/upload"
	"orbweaver/engine/page/hook"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/limits"
	"orbweaver/internal/vfs"
)

// Report is report.json: what the crawl has done so far. A number with the tag metric is a metric, too: see Metric.
// Counts balance: URLsAdmitted = sum of Outcomes + URLsQueued + URLsInFlight.
type Report struct {
	State  lifecycle.State `json:"state"`
	Reason string          `json:"reason"`

	counters.Reported[int64]

	Dir     string `json:"dir"`        // of the crawl, as this run was given it
	Started string `json:"started_at"` // this run
	Scope   string `json:"scope"`      // --scope of this run
	Limits  Limits `json:"limits"`
	// OnlyRequisites says that --max-pages is reached, and page requisites are left.
	OnlyRequisites bool `json:"only_requisites,omitempty"`

	URLsFetched  int64 `json:"urls_fetched"` // admitted URLs that were requested and have their outcome
	URLsQueued   int64 `json:"urls_queued" metric:"urls_queued" help:"Admitted URLs without an outcome yet."`
	URLsInFlight int64 `json:"urls_in_flight" metric:"urls_in_flight" help:"URLs being fetched, read or kept."`

	Outcomes map[string]int64 `json:"outcomes" metric:"outcomes_total" label:"outcome" help:"Admitted URLs by final outcome."`
	// CertificateFaults are exchanges of this run with servers whose certificate does not verify, by why: expired,
	// wrong-name, unknown-authority, invalid.
	CertificateFaults map[string]int64 `json:"certificate_faults,omitempty" metric:"certificate_faults_total" label:"fault" help:"Exchanges with servers whose certificate does not verify, by fault, in this run."`
	// HTTP2Probes are probes of this run by reason, such as "403", and "403-lifted" for those that were answered.
	HTTP2Probes map[string]int64 `json:"h2_probes,omitempty" metric:"h2_probes_total" label:"result" help:"Second tries over HTTP/2 (--probe-h2), by reason and result, in this run."`
	Statuses    map[string]int64 `json:"statuses" metric:"responses_total" label:"code" help:"Responses by status code."`
	// MediaTypes has the types with a counter of their own, "other" and "unknown". "orbweaver report mime" has all.
	MediaTypes map[string]int64   `json:"media_types" metric:"urls_by_type_total" label:"type" help:"URLs with a response by media type of the last one."`
	Depths     map[string]int64   `json:"depths" metric:"pages_by_depth_total" label:"depth" help:"Pages by links from a seed."` // "16+" counts deeper ones
	Stats      map[string]float64 `json:"stats,omitempty" metric:"stat" label:"name" help:"Numbers of the user (--stat), added up."`
	Dropped    map[string]int64   `json:"dropped" metric:"dropped_total" label:"reason" help:"URLs that admission dropped, by reason."`

	FilterErrors map[string]int64 `json:"filter_errors,omitempty" metric:"filter_errors_total" label:"point" help:"Evaluations of expressions that failed, by point, in this run."`

	// BytesArrived counts bytes when they come, and bytes_received when their response is stored.
	BytesArrived  int64 `json:"bytes_arrived" metric:"arrived_bytes_total" help:"Bytes of responses as they come, in this run, also of those that are not complete."`
	BytesUnderWay int64 `json:"bytes_under_way" metric:"under_way_bytes" help:"Of these, of exchanges that have not ended."`

	BytesStored   int64 `json:"bytes_stored" metric:"stored_bytes_total" help:"Bytes of WARC files."`
	HostsKnown    int64 `json:"hosts_known" metric:"sites" help:"Sites known."`
	HostsCold     int64 `json:"hosts_cold" metric:"sites_cold" help:"Of these, on disk: idle for long while memory was short."`
	HostsEvicted  int64 `json:"hosts_evicted" metric:"sites_evicted_total" help:"Sites moved from memory to disk, in this run."`
	HostsRestored int64 `json:"hosts_restored" metric:"sites_restored_total" help:"Sites moved from disk to memory, in this run."`
	IPsKnown      int64 `json:"ips_known" metric:"ips" help:"IP addresses known, of sites that are not on disk, or not due yet."`
	RobotsDenied  int64 `json:"robots_denied"`
	ConnsReused   int64 `json:"connections_reused" metric:"connections_reused_total" help:"Exchanges over a connection that was kept, in this run."`
	Cookies       int64 `json:"cookies" metric:"cookies" help:"Cookies kept, of all sites."`
	CookiesLost   int64 `json:"cookies_refused" metric:"cookies_refused_total" help:"Cookies that were not kept since there was no memory for them, in this run."`
	CacheHits     int64 `json:"cache_hits" metric:"cache_hits_total" help:"Hits in the fingerprint cache."`
	CacheLookups  int64 `json:"cache_lookups" metric:"cache_lookups_total" help:"Look-ups in the fingerprint cache."`
	SieveSize     int64 `json:"sieve_size" metric:"sieve_fingerprints" help:"Fingerprints in the sieve's store."`
	SievePending  int64 `json:"sieve_pending" metric:"sieve_pending" help:"Fingerprints waiting for a flush."`
	BenchBytes    int64 `json:"workbench_bytes"` // memory of the queued items
	Spilled       int64 `json:"urls_spilled"`    // items that sites of a full workbench gave back, in this run
	LongTypes     int64 `json:"content_types_truncated" metric:"content_types_truncated_total" help:"Responses of this run whose media type is too long for crawl.log and the index."`
	PageMemory    int64 `json:"page_memory_bytes"` // of buffers for pages, in use or free
	BodyFiles     int64 `json:"body_files" metric:"body_files" help:"Files of long bodies on their way to the archive."`
	BodyFileBytes int64 `json:"body_file_bytes" metric:"body_file_bytes" help:"Disk space that these files have reserved."`
	BodiesWaiting int64 `json:"bodies_waiting" metric:"bodies_waiting" help:"Long bodies that wait for disk space or for a file."`
	BodyWaits     int64 `json:"body_waits" metric:"body_waits_total" help:"Times that a long body had to wait for disk space or for a file, in this run."`

	Checkpoints         int64   `json:"checkpoints"` // of this run
	CheckpointAge       float64 `json:"checkpoint_age_seconds" metric:"checkpoint_age_seconds" help:"Age of the state that the last checkpoint of this run has made durable; 0 before the first."`
	CheckpointPauseP99  float64 `json:"checkpoint_pause_p99_seconds"` // how long all steps stood still for one
	CheckpointPauseMost float64 `json:"checkpoint_pause_most_seconds"`

	Skipped map[string]int64 `json:"skipped"` // URLs skipped as parts of traps, by rule: "orbweaver skipped" lists them

	NoveltyWatched int64 `json:"novelty_sites" metric:"novelty_sites" help:"Sites and domains whose novelty is watched."`
	NoveltyPoor    int64 `json:"novelty_repetitive_parts" metric:"novelty_repetitive_parts" help:"Parts of sites that bring nothing new."`
	NoveltyDelayed int64 `json:"novelty_delayed"` // URLs that were delayed in this run
	NoveltyRead    int64 `json:"novelty_pages_read" metric:"novelty_pages_read_total" help:"Pages compared with earlier pages of their site, in this run."`
	NoveltyEvicted int64 `json:"novelty_evicted" metric:"novelty_evicted_total" help:"Sites whose novelty was forgotten since memory was short, in this run."`
	NoveltyMemory  int64 `json:"novelty_memory_bytes"` // for that

	DNS DNS `json:"dns"`

	Cluster *cluster.StatusReport `json:"cluster,omitempty"` // nil for a crawl with one agent
	Uploads *upload.Stats         `json:"uploads,omitempty"` // nil if WARC files are not sent
	Hook    *hook.Stats           `json:"hook,omitempty"`    // nil without --hook page

	TLSSessions fetch.SessionStats `json:"tls_sessions"`

	HostHook *hook.HostStats `json:"host_hook,omitempty"` // nil without --hook host
	LinkHook *hook.LinkStats `json:"link_hook,omitempty"` // nil without --hook link

	ActiveFetches   int64   `json:"active_fetches" metric:"active_fetches" help:"Fetch workers in an exchange."`
	Front           int64   `json:"front" metric:"front_ips" help:"IP addresses with something due within a second."`
	FrontWanted     int64   `json:"front_required"` // how many there should be
	WallSeconds     float64 `json:"wall_seconds"`
	CPUSeconds      float64 `json:"cpu_seconds" metric:"cpu_seconds_total" help:"Processor time of all runs of this crawl."`
	RSSPeakBytes    int64   `json:"rss_peak_bytes"`
	Pass            int     `json:"pass"` // from 1: how often the crawl was begun
	Resumed         int     `json:"resumed"`
	SyncSeconds     float64 `json:"sync_seconds"`     // that the last group commit took if the disk is slow, else 0
	LogLinesLost    int64   `json:"log_lines_lost"`   // of crawl.log, by this run
	LocalFaults     int64   `json:"local_faults"`     // attempts of this run without a descriptor or port here
	BodiesTruncated int64   `json:"bodies_truncated"` // admitted URLs whose body is not whole in the archive
	DiskPauses      int64   `json:"disk_pauses"`      // of this run, since the disk was full
	Waiting         string  `json:"waiting"`          // what limits the crawl now, in one line

	FailingSites *ending.FailingSites `json:"failing_sites,omitempty"` // nil unless all queued URLs are of such sites

	Outlook *ending.Outlook `json:"outlook,omitempty"` // of a running crawl: failing sites, and the least time to the end

	Written string `json:"written_at"`
	Version string `json:"version"` // of the program

	Distributions *counters.Distributions `json:"-"` // of this run, and nil in a report that was read
}

// Limits are those in force.
type Limits struct {
	limits.InForce

	MaxDepth int `json:"max_depth"` // links from a seed; -1 for no limit
}

// Write replaces the report of the crawl directory in one step.
func Write(fsys vfs.FS, dir string, r Report) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	err = vfs.WriteAtomic(fsys, dir+"/"+layout.ReportFile, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// Read reads the report of a crawl directory.
func Read(fsys vfs.FS, dir string) (Report, error) {
	var r Report
	b, err := vfs.ReadFile(fsys, dir+"/"+layout.ReportFile)
	if err != nil {
		return r, fmt.Errorf("report: %w", err)
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("report: %s/%s: %w", dir, layout.ReportFile, err)
	}
	return r, nil
}
