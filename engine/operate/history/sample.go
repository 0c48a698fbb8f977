package history

import (
	"math"

	"orbweaver/engine/operate/report"
)

// Rates say how fast the crawl is, as means of the last seconds.
type Rates struct {
	Pages     float64 `json:"pages_per_second"`          // stored, as responses or revisits, or unchanged
	Attempts  float64 `json:"attempts_per_second"`       // exchanges for pages
	Retries   float64 `json:"retries_per_second"`        // exchanges that must be repeated
	Finished  float64 `json:"urls_finished_per_second"`  // admitted URLs that got their outcome
	Admitted  float64 `json:"urls_admitted_per_second"`  // new URLs in scope
	Received  float64 `json:"received_bytes_per_second"` // as on the wire
	Stored    float64 `json:"stored_bytes_per_second"`   // of WARC files
	CPU       float64 `json:"cpu_cores"`                 // processor time for each second
	OfSeconds float64 `json:"of_seconds"`                // how long a time the means are of; 0 if nothing is known yet
}

// Names are the names of the values of a sample: those of Rates and of the report.
func Names() []string {
	return []string{
		"pages_per_second", "attempts_per_second", "retries_per_second", "urls_finished_per_second",
		"urls_admitted_per_second", "received_bytes_per_second", "stored_bytes_per_second", "cpu_cores",
		"urls_queued", "urls_in_flight", "active_fetches", "front", "hosts_known", "sync_seconds", "memory_bytes",
	}
}

// totals are what rates are made of.
type totals struct {
	seconds float64 // on a clock that is never set
	counts  [8]float64
}

func totalsOf(r *report.Report, seconds float64) totals {
	finished := int64(0)
	for _, n := range r.Outcomes {
		finished += n
	}
	return totals{seconds, [8]float64{
		float64(r.PagesStored + r.RevisitsStored + r.PagesUnchanged), float64(r.Attempts), float64(r.Retries),
		float64(finished), float64(r.URLsAdmitted), float64(r.BytesArrived), float64(r.BytesStored), r.CPUSeconds,
	}}
}

// ratesOf returns the rates between two moments.
func ratesOf(from, to *totals) (r Rates) {
	seconds := to.seconds - from.seconds
	if seconds <= 0 {
		return r
	}
	into := []*float64{&r.Pages, &r.Attempts, &r.Retries, &r.Finished, &r.Admitted, &r.Received, &r.Stored, &r.CPU}
	for i, rate := range into {
		*rate = max(to.counts[i]-from.counts[i], 0) / seconds
	}
	r.OfSeconds = math.Round(seconds*10) / 10
	return r
}

// valuesOf returns a sample, in the order of Names.
func valuesOf(r *report.Report, rates *Rates, memory uint64) []float32 {
	return []float32{
		float32(rates.Pages), float32(rates.Attempts), float32(rates.Retries), float32(rates.Finished),
		float32(rates.Admitted), float32(rates.Received), float32(rates.Stored), float32(rates.CPU),
		float32(r.URLsQueued), float32(r.URLsInFlight), float32(r.ActiveFetches), float32(r.Front),
		float32(r.HostsKnown), float32(r.SyncSeconds), float32(memory),
	}
}
