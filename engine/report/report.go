package report

import (
	"encoding/json"
	"fmt"
	"io"

	"orbweaver/engine/cluster"
	"orbweaver/engine/ending"
	"orbweaver/engine/layout"
	"orbweaver/engine/lifecycle"
	"orbweaver/internal/vfs"
)

// Report is report.json: what the crawl has done so far. Counts balance: URLsAdmitted = sum of Outcomes + URLsQueued +
// URLsInFlight.
type Report struct {
	State  lifecycle.State `json:"state"`
	Reason string          `json:"reason"`

	URLsFound    int64 `json:"urls_found"`    // links and seeds, repetitions included
	URLsAdmitted int64 `json:"urls_admitted"` // of these, new and in scope
	URLsFetched  int64 `json:"urls_fetched"`  // admitted URLs that were requested and have their outcome
	URLsQueued   int64 `json:"urls_queued"`
	URLsInFlight int64 `json:"urls_in_flight"`

	PagesStored    int64 `json:"pages_stored"`
	RevisitsStored int64 `json:"revisits_stored"`
	PagesUnchanged int64 `json:"pages_unchanged"` // revisits too: the server said so, and sent no body
	PagesNotStored int64 `json:"pages_not_stored"`
	PagesNotParsed int64 `json:"pages_not_parsed"` // by --parse

	Outcomes map[string]int64 `json:"outcomes"`
	// CertificateFaults are exchanges of this run with servers whose certificate does not verify, by why: expired,
	// wrong-name, unknown-authority, invalid.
	CertificateFaults map[string]int64 `json:"certificate_faults,omitempty"`
	Statuses          map[string]int64 `json:"statuses"`
	Dropped           map[string]int64 `json:"dropped"` // by admission, by reason

	Userinfo int64 `json:"userinfo_left_out"` // references with a user or a password, which are neither sent nor kept

	FilterErrors map[string]int64 `json:"filter_errors,omitempty"` // failed evaluations of expressions, by point, in this run

	Attempts      int64 `json:"attempts"`
	Retries       int64 `json:"retries"`
	BytesReceived int64 `json:"bytes_received"`
	BytesStored   int64 `json:"bytes_stored"`
	HostsKnown    int64 `json:"hosts_known"`
	HostsCold     int64 `json:"hosts_cold"`   // of these, on disk: long idle when memory was short
	HostsFrozen   int64 `json:"hosts_frozen"` // moves to disk, in this run
	HostsThawed   int64 `json:"hosts_thawed"` // moves back
	IPsKnown      int64 `json:"ips_known"`
	RobotsFetched int64 `json:"robots_fetched"`
	RobotsDenied  int64 `json:"robots_denied"`
	DelaysCapped  int64 `json:"crawl_delays_capped"` // robots.txt files that asked for more than --crawl-delay-max
	RetryClamped  int64 `json:"retry_after_clamped"` // answers with a Retry-After below zero or above a day
	IPsSlowed     int64 `json:"ip_slowdowns"`        // exchanges whose IP then waited longer, as several of its sites were in trouble
	ConnsReused   int64 `json:"connections_reused"`  // exchanges over a connection that was kept, in this run
	Cookies       int64 `json:"cookies"`             // kept now, of all sites
	CookiesLost   int64 `json:"cookies_refused"`     // dropped or not kept by this run, because memory was short
	CacheHits     int64 `json:"cache_hits"`
	CacheLookups  int64 `json:"cache_lookups"`
	SieveSize     int64 `json:"sieve_size"`
	SievePending  int64 `json:"sieve_pending"`
	BenchBytes    int64 `json:"workbench_bytes"` // memory of the queued items
	Spilled       int64 `json:"spilled"`         // items that sites of a full workbench gave back, in this run
	ParseFaults   int64 `json:"parse_faults"`
	BadEncodings  int64 `json:"bad_encodings"`     // pages searched for links whose content encoding lies, is damaged or unpacks to too much
	LongTypes     int64 `json:"content_types_cut"` // responses of this run whose media type is too long for crawl.log and the index
	PageMemory    int64 `json:"page_memory_bytes"` // of buffers for pages, in use or free

	Checkpoints         int64   `json:"checkpoints"`                  // of this run
	CheckpointPauseP99  float64 `json:"checkpoint_pause_p99_seconds"` // how long all steps stood still for one
	CheckpointPauseMost float64 `json:"checkpoint_pause_most_seconds"`

	Skipped map[string]int64 `json:"skipped"` // URLs skipped as parts of traps, by rule: "orbweaver skipped" lists them

	NoveltyWatched int64 `json:"novelty_watched"`      // sites and domains
	NoveltyPoor    int64 `json:"novelty_poor"`         // parts of them whose URLs are delayed
	NoveltyDelayed int64 `json:"novelty_delayed"`      // URLs that were delayed in this run
	NoveltyRead    int64 `json:"novelty_read"`         // pages of this run that were compared with earlier ones of their site
	NoveltyEvicted int64 `json:"novelty_evicted"`      // sites of this run that were forgotten because memory was short
	NoveltyMemory  int64 `json:"novelty_memory_bytes"` // for that

	Peers *cluster.StatusReport `json:"peers,omitempty"` // nil for a crawl with one agent

	ActiveFetches int64   `json:"active_fetches"`
	Front         int64   `json:"front"`        // addresses with something due soon
	FrontWanted   int64   `json:"front_wanted"` // how many there should be
	WallSeconds   float64 `json:"wall_seconds"`
	CPUSeconds    float64 `json:"cpu_seconds"`
	RSSPeakBytes  int64   `json:"rss_peak_bytes"`
	Pass          int     `json:"pass"` // from 1: how often the crawl was begun
	Resumed       int     `json:"resumed"`
	SyncSeconds   float64 `json:"sync_seconds"`   // that the last group commit took if the disk is slow, else 0
	LogLinesLost  int64   `json:"log_lines_lost"` // of crawl.log, by this run
	LocalFaults   int64   `json:"local_faults"`   // connections and look-ups of this run that this machine lacked descriptors or ports for
	DiskPauses    int64   `json:"disk_pauses"`    // of this run, since the disk was full
	Waiting       string  `json:"waiting"`        // what limits the crawl now, in one line

	Trouble *ending.TroubleReport `json:"trouble,omitempty"` // nil unless all queued URLs are of sites in trouble

	Written string `json:"written"`
}

// Write replaces the report of the crawl directory in one step.
func Write(fsys vfs.FS, dir string, r Report) error {
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("engine: report: %w", err)
	}
	err = vfs.WriteAtomic(fsys, dir+"/"+layout.ReportFile, func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
	if err != nil {
		return fmt.Errorf("engine: report: %w", err)
	}
	return nil
}

// Read reads the report of a crawl directory.
func Read(fsys vfs.FS, dir string) (Report, error) {
	var r Report
	b, err := vfs.ReadFile(fsys, dir+"/"+layout.ReportFile)
	if err != nil {
		return r, fmt.Errorf("engine: report: %w", err)
	}
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("engine: report: %s/%s: %w", dir, layout.ReportFile, err)
	}
	return r, nil
}
