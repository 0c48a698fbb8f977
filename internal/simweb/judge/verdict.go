package judge

import (
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// Verdict is what the oracle found. Every number of violations of a sound crawl is zero, and Coverage is 1 and Overlap
// 0.
type Verdict struct {
	Expected   int     `json:"expected"`   // URLs that must be stored with status 200
	Fetched    int     `json:"fetched"`    // of these, the ones that are stored
	Missing    int     `json:"missing"`    // Expected - Fetched
	Unexpected int     `json:"unexpected"` // requests for what nothing links to: traps, URLs misread, out of scope
	Coverage   float64 `json:"coverage"`   // Fetched / Expected; 1 if nothing was expected
	Overlap    float64 `json:"overlap"`    // requests for what had a final answer already, per unique URL

	Arrivals        int `json:"arrivals"`         // all requests
	Unique          int `json:"unique"`           // different URLs asked for, robots.txt not counted
	Repeated        int `json:"repeated"`         // requests for what had a final answer already
	Retries         int `json:"retries"`          // requests again after a failure
	Proofs          int `json:"proofs"`           // requests again for the root page of a host that fails
	RobotsFetches   int `json:"robots_fetches"`   // requests for robots.txt
	AttemptsMissing int `json:"attempts_missing"` // URLs without a page that were never asked for, and must be

	HostGapViolations    int           `json:"host_gap_violations"`
	IPGapViolations      int           `json:"ip_gap_violations"`
	HostConcurrency      int           `json:"host_concurrency"` // requests while another was in flight at the host
	IPConcurrency        int           `json:"ip_concurrency"`   // the same at the address
	RetryAfterViolations int           `json:"retry_after_violations"`
	RobotsViolations     int           `json:"robots_violations"` // requests that it forbids, or before it was known
	Nameless             int           `json:"nameless"`          // requests without User-Agent or contact
	MinHostGap           time.Duration `json:"min_host_gap_ns"`   // smallest gap seen at a host; -1 if there was none
	MinIPGap             time.Duration `json:"min_ip_gap_ns"`
	BetweenAgents        int           `json:"between_agents"` // gaps too small between two User-Agents

	DigestMismatches int `json:"digest_mismatches"` // stored with another payload, without digest, or cut without need
	Duplicates       int `json:"duplicates"`        // URLs stored with status 200 more than once in one archive
	StoredUnknown    int `json:"stored_unknown"`    // stored with status 200 and no page of this world, or denied
	QuotaViolations  int `json:"quota_violations"`  // sites with more pages stored than allowed

	// Of a web with pages that no page links to. There, requests for what is not in the web are no fault.
	Unlinked      int `json:"unlinked,omitempty"`       // such pages, at hosts that are reached
	UnlinkedFound int `json:"unlinked_found,omitempty"` // the ones that are stored
	MinedHits     int `json:"mined_hits,omitempty"`     // requests for them
	MinedMisses   int `json:"mined_misses,omitempty"`   // requests for what is not in the web

	Drawn *Drawn `json:"drawn,omitempty"` // of a web with drawn pages, and an archive

	// Of several agents: Held is n and Stored is u of the UbiCrawler papers, and what is held twice is no fault of an
	// archive.
	Held        int     `json:"held"`         // pages in all archives together
	Stored      int     `json:"stored"`       // different ones
	OverlapHeld float64 `json:"overlap_held"` // (Held - Stored) / Stored
	Shares      []Share `json:"shares,omitempty"`

	Partial  bool     `json:"partial"`   // the crawl was not meant to end: Expected counts what the server answered whole
	UnderWay int      `json:"in_flight"` // answered pages that are not expected, since they came after a limit was reached
	Answered bool     `json:"answered"`  // there was no archive to judge: Fetched counts what the server answered whole
	Examples []string `json:"examples,omitempty"`
}

// Drawn is how many of the stored pages a browser must draw, by what the archive says of them. A wrong name is no fault
// of the crawl.
type Drawn struct {
	Named     int     `json:"named"`
	Missed    int     `json:"missed"`
	Wrong     int     `json:"wrong"`     // named without need
	Recall    float64 `json:"recall"`    // Named of Named + Missed; 1 if there are none
	Precision float64 `json:"precision"` // Named of Named + Wrong; 1 if there are none
}

// Share is what one of several archives holds.
type Share struct {
	Pages int `json:"pages"`
	Hosts int `json:"hosts"` // with a page at least
}

// violations is the sum of everything that must not be.
func (v Verdict) violations() int {
	return v.Missing + v.Unexpected + v.Repeated + v.AttemptsMissing + v.Duplicates + v.StoredUnknown + v.impolite() +
		v.DigestMismatches
}

func (v Verdict) impolite() int {
	return v.HostGapViolations + v.IPGapViolations + v.HostConcurrency + v.IPConcurrency + v.RetryAfterViolations +
		v.RobotsViolations + v.Nameless + v.QuotaViolations
}

// Sound says that nothing at all is wrong.
func (v Verdict) Sound() bool { return v.violations() == 0 }

// Polite says that the visited sites had no reason to complain.
func (v Verdict) Polite() bool { return v.impolite() == 0 }

// Recall is the part of the pages without a link that was found.
func (v Verdict) Recall() float64 { return float64(v.UnlinkedFound) / float64(max(v.Unlinked, 1)) }

// RequestsPerFind is how many requests for mined URLs it took to find one of these pages; 0 if none was found.
func (v Verdict) RequestsPerFind() float64 {
	if v.UnlinkedFound == 0 {
		return 0
	}
	return float64(v.MinedHits+v.MinedMisses) / float64(v.UnlinkedFound)
}

// Print writes the verdict for people.
func (v Verdict) Print(out io.Writer) {
	word := "stored pages"
	if v.Partial || v.Answered {
		word = "answered pages"
	}
	fmt.Fprintf(out, "coverage    %.6f  (%d of %d %s, %d missing)\n", v.Coverage, v.Fetched, v.Expected, word, v.Missing)
	fmt.Fprintf(out, "overlap     %.6f  (%d repeated of %d URLs, %d requests, %d retries, %d robots.txt)\n", v.Overlap,
		v.Repeated, v.Unique, v.Arrivals, v.Retries, v.RobotsFetches)
	fmt.Fprintf(out, "politeness  %d host gaps, %d IP gaps, %d and %d at once, %d Retry-After; "+
		"smallest gaps %v host, %v IP\n",
		v.HostGapViolations, v.IPGapViolations, v.HostConcurrency, v.IPConcurrency, v.RetryAfterViolations,
		v.MinHostGap, v.MinIPGap)
	fmt.Fprintf(out, "rules       %d robots.txt violations, %d requests without contact, %d pages over the limit\n",
		v.RobotsViolations, v.Nameless, v.QuotaViolations)
	fmt.Fprintf(out, "archive     %d wrong digests, %d duplicates, %d unknown stored, %d unexpected, %d never attempted\n",
		v.DigestMismatches, v.Duplicates, v.StoredUnknown, v.Unexpected, v.AttemptsMissing)
	if v.Unlinked > 0 {
		fmt.Fprintf(out, "unlinked    %d of %d pages without a link found, recall %.3f; %.2f requests each\n",
			v.UnlinkedFound, v.Unlinked, v.Recall(), v.RequestsPerFind())
	}
	if d := v.Drawn; d != nil {
		fmt.Fprintf(out, "drawn       %d of %d pages that need a browser are named, recall %.3f; %d others, precision %.3f\n",
			d.Named, d.Named+d.Missed, d.Recall, d.Wrong, d.Precision)
	}
	if len(v.Shares) > 0 {
		fmt.Fprintf(
			out,
			"archives    %d hold %d pages, %d different ones: overlap %.6f;",
			len(v.Shares),
			v.Held,
			v.Stored,
			v.OverlapHeld,
		)
		for _, s := range v.Shares {
			fmt.Fprintf(out, " %d of %d hosts", s.Pages, s.Hosts)
		}
		fmt.Fprintln(out)
	}
	if v.BetweenAgents > 0 {
		fmt.Fprintf(out, "between     %d of the gaps were too small between two agents\n", v.BetweenAgents)
	}
	if v.UnderWay > 0 {
		fmt.Fprintf(out, "limit       %d more pages were in flight when it was reached, and are not expected\n", v.UnderWay)
	}
	for _, e := range v.Examples {
		fmt.Fprintf(out, "  %s\n", e)
	}
}

// JSON returns the verdict as one JSON object.
func (v Verdict) JSON() ([]byte, error) { return json.Marshal(v) }
