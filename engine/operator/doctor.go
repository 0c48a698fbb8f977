package operator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orbweaver/engine/doctor"
	"orbweaver/engine/lifecycle"
)

// Diagnoses is the answer to the question doctor.
type Diagnoses struct {
	Diagnoses []doctor.Diagnosis `json:"diagnoses"` // the strongest first; there is at least one
}

// oldExchange is the age from which an exchange counts as one whose server does not answer.
const oldExchange = 10 * time.Second

// diagnose answers what limits the crawl.
func (o *Operator) diagnose(ctx context.Context, _ params) (any, error) {
	now := time.Now()
	f := doctor.Figures{
		Paused: o.Outages.Gate.Reason(), Fetchers: o.Fetchers, Busy: int(o.Exchanges.Busy()),
		ParsersBehind: o.Reports.Numbers.ParsersBehind(), PagesOut: o.Reports.Numbers.PagesOut.Load(),
		SyncTook: o.Disk.Journal.SlowSync.Now(now), MemoryFull: o.Disk.Workbench.Memory().Full(),
		Bandwidth:    o.Live.Bandwidth.State(),
		SievePending: int64(o.Disk.Sieve.Pending()),
	}
	if state, reason := o.Run.State(); state != lifecycle.Running && state != lifecycle.Paused {
		f.Ended = fmt.Sprintf("%s (%s)", state, reason)
	} else if o.Run.IsStopping() {
		f.Ended = "it stops"
	}
	_, f.DiskNeed = o.Disk.Journal.Disk.Pauses()
	_, f.Shortage = o.Outages.Shortage.Current(now)
	var down time.Time
	if down, f.NetworkWorkers = o.Outages.Network.State(); !down.IsZero() {
		f.NetworkDown = now.Sub(down)
	}
	servers, since := o.Outages.NameServers.Silent()
	if !since.IsZero() {
		f.NameServersDown = now.Sub(since)
	} else {
		servers = o.Outages.NameServers.Servers()
	}
	names := make([]string, 0, len(servers))
	for _, s := range servers {
		names = append(names, s.String())
	}
	if f.NameServers = strings.Join(names, ", "); f.NameServers == "" {
		f.NameServers = "the name servers"
	}
	for _, x := range o.Exchanges.List(o.Fetchers) {
		age := now.Sub(x.Began)
		if age < oldExchange {
			break // the oldest come first
		}
		if f.OldExchanges++; f.OldExchanges == 1 {
			f.OldestURL, f.OldestAge = string(x.URL), age
		}
	}
	var err error
	f.Hosts, err = o.hosts.Survey(ctx)
	return Diagnoses{doctor.Diagnose(&f)}, err
}
