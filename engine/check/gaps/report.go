package gaps

import (
	"slices"
	"time"
)

// Report is what an audit found.
type Report struct {
	Verdict Verdict `json:"verdict"`
	Files   int     `json:"files"`

	Exchanges     int64     `json:"exchanges"` // with a record
	First         time.Time `json:"first"`     // start of the first one
	Last          time.Time `json:"last"`
	RobotsFiles   int64     `json:"robots_files"`
	WithoutTime   int64     `json:"exchanges_without_duration"`
	WithoutAddr   int64     `json:"exchanges_without_address"` // also those through a proxy
	Undated       int64     `json:"captures_without_date"`     // not judged
	DamagedPlaces int64     `json:"damaged_places"`            // of the files; what was there is not judged

	Stated    []Stated `json:"stated"` // what the warcinfo records state, and the options where they state nothing
	Sites     Gaps     `json:"sites"`
	Addresses Gaps     `json:"addresses"`
}

// Verdict is the result of an audit.
type Verdict string

// The verdicts.
const (
	Kept      Verdict = "kept"
	Violated  Verdict = "violated"
	NotProved Verdict = "not-proved" // no violation was found, and some gaps are not provable
)

// Stated are the delays of some files, in seconds; below zero if they are unknown.
type Stated struct {
	HostDelay     float64 `json:"host_delay_seconds"`
	IPDelay       float64 `json:"ip_delay_seconds"`
	CrawlDelayMax float64 `json:"crawl_delay_max_seconds"`
	RetryAfterMax float64 `json:"retry_after_max_seconds"`
	IPv6Prefix    int     `json:"ipv6_prefix"`
	Proxy         bool    `json:"proxy"`
}

// Reason says why a gap is not provable.
type Reason string

// The reasons.
const (
	NoDuration   Reason = "no-duration"          // the archive does not say how long the earlier exchange took
	NoDelay      Reason = "no-delay"             // nothing states the delay
	NoCrawlDelay Reason = "redirected-robots"    // where the robots.txt leads to is not in the archive
	Unrecorded   Reason = "request-not-recorded" // before a request without a record
	FirstOfRun   Reason = "first-of-run"         // of the site: what was under way when the run before ended is not known
	NotStated    Reason = "not-stated"           // the record does not say whether there was a request without a record
	Imprecise    Reason = "imprecise-time"       // dates without a fraction of a second, or of two clocks
)

// Rule is a delay that was in force.
type Rule string

// The rules.
const (
	RuleHostDelay  Rule = "host-delay"
	RuleIPDelay    Rule = "ip-delay"
	RuleCrawlDelay Rule = "crawl-delay"
	RuleRetryAfter Rule = "retry-after"
	RuleOneAtATime Rule = "one-at-a-time" // the exchanges overlap
)

// Gaps are all gaps of one kind: of sites or of addresses. Seconds are from the end of an exchange to the start of the
// next one.
type Gaps struct {
	Keys        int64            `json:"count"` // of sites or addresses
	Gaps        int64            `json:"gaps"`
	Kept        int64            `json:"kept"`
	Violated    int64            `json:"violated"`
	Offenders   int64            `json:"offenders"` // sites or addresses with a gap that is violated
	NotProvable int64            `json:"not_provable"`
	Reasons     map[Reason]int64 `json:"reasons"`                  // of those that are not provable
	Unrecorded  int64            `json:"exchanges_without_record"` // at least; known from the record that came next

	Measured    int64       `json:"measured"` // gaps in the distribution: those whose begin is known
	Least       float64     `json:"least_seconds"`
	Percentiles Percentiles `json:"percentiles_seconds"`
	Most        float64     `json:"most_seconds"`
	Histogram   []Range     `json:"histogram"`
	// Worst are the worst gap of each site or address: violations first, then by the time beyond the delay.
	Worst []Gap `json:"worst"`

	sizes distribution
	worst []gap
}

// Percentiles are sizes of gaps, good to three per cent.
type Percentiles struct {
	P01 float64 `json:"p1"`
	P10 float64 `json:"p10"`
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
	P99 float64 `json:"p99"`
}

// Gap is a gap with its records.
type Gap struct {
	Of       string  `json:"of"` // site or address
	Violated bool    `json:"violated"`
	Count    int64   `json:"violations"` // of this site or address
	Seconds  float64 `json:"seconds"`
	Required float64 `json:"required_seconds"`
	Rule     Rule    `json:"rule"`
	Earlier  Named   `json:"earlier"`
	Later    Named   `json:"later"`
}

// Named is a record. One that is not in the archive has no ID.
type Named struct {
	ID     string    `json:"record_id"`
	URL    string    `json:"url"`
	Date   time.Time `json:"date"`
	IP     string    `json:"ip"`
	File   string    `json:"file"`
	Offset int64     `json:"offset"`

	group string // of hosts
}

// gap is a Gap before its records are read again.
type gap struct {
	earlier, later       place
	hasEarlier, hasLater bool // they have records
	micros               int64
	required             required
	isViolated           bool
	violations           int64 // of its key, if it is the worst one
}

// beyond is how much longer than required the gap is.
func (g *gap) beyond() int64 { return g.micros - g.required.micros }

// doubt counts a gap that is not provable.
func (g *Gaps) doubt(why Reason) {
	g.NotProvable++
	g.Reasons[why]++
}

// offer keeps a gap if it is one of the worst.
func (g *Gaps) offer(one *gap, most int) {
	if n := len(g.worst); n == most && (n == 0 || compareGaps(one, &g.worst[n-1]) >= 0) {
		return
	}
	at, _ := slices.BinarySearchFunc(g.worst, one, func(a gap, b *gap) int { return compareGaps(&a, b) })
	g.worst = slices.Insert(g.worst, at, *one)
	g.worst = g.worst[:min(len(g.worst), most)]
}

// compareGaps puts violations first, then what is least beyond the delay.
func compareGaps(a, b *gap) int {
	switch {
	case a.isViolated != b.isViolated && a.isViolated:
		return -1
	case a.isViolated != b.isViolated:
		return 1
	case a.beyond() < b.beyond():
		return -1
	case a.beyond() > b.beyond():
		return 1
	}
	return 0
}

// finish computes what is printed.
func (g *Gaps) finish() {
	d := &g.sizes
	g.Measured, g.Histogram = d.total, d.histogram()
	g.Least, g.Most = seconds(d.least), seconds(d.most)
	g.Percentiles = Percentiles{
		P01: seconds(d.percentile(0.01)), P10: seconds(d.percentile(0.10)), P50: seconds(d.percentile(0.50)),
		P90: seconds(d.percentile(0.90)), P99: seconds(d.percentile(0.99)),
	}
}

func seconds(micros int64) float64 { return (time.Duration(micros) * time.Microsecond).Seconds() }

// note counts an exchange.
func (r *Report) note(x *exchange) {
	at := dateOf(x.start)
	if r.Exchanges == 0 || at.Before(r.First) {
		r.First = at
	}
	if at.After(r.Last) {
		r.Last = at
	}
	r.Exchanges++
	if x.took < 0 {
		r.WithoutTime++
	}
}

// finish gives the verdict.
func (r *Report) finish() {
	r.Sites.finish()
	r.Addresses.finish()
	switch {
	case r.Sites.Violated+r.Addresses.Violated > 0:
		r.Verdict = Violated
	case r.Sites.NotProvable+r.Addresses.NotProvable+r.WithoutAddr+r.Undated+r.DamagedPlaces > 0:
		r.Verdict = NotProved
	default:
		r.Verdict = Kept
	}
}
