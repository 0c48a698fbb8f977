package operator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"orbweaver/engine/net/outage"
	"orbweaver/engine/operate/doctor"
	"orbweaver/engine/operate/upload"
	"orbweaver/engine/state/lifecycle"
)

// Diagnoses is the answer to the question doctor.
type Diagnoses struct {
	Diagnoses []doctor.Diagnosis `json:"diagnoses"` // the strongest first; there is at least one
}

// diagnose answers what limits the crawl.
func (o *Operator) diagnose(ctx context.Context, _ params) (any, error) {
	now := time.Now()
	f := doctor.Figures{
		Fetchers: o.parts.Outages.Network.Workers(), Busy: int(o.parts.Exchanges.Busy()),
		ParsersBehind: o.parts.Reports.Numbers.ParsersBehind(), PagesOut: o.parts.Reports.Numbers.PagesOut.Load(),
		Disk: doctor.Disk{
			SyncTook: o.parts.Disk.Journal.SlowSync.Now(now), WriteTook: o.parts.Disk.Journal.SlowSync.WriteNow(now),
			Unsent: upload.Trouble(o.parts.Reports.Numbers.Uploads),
		},
		Hook:         o.parts.Reports.Numbers.HookTrouble(),
		MemoryFull:   o.parts.Disk.Workbench.Memory().Full(),
		Bandwidth:    o.parts.Live.Bandwidth.State(),
		SievePending: int64(o.parts.Disk.Sieve.Pending()),
		Bodies:       o.parts.Reports.Numbers.Bodies(),
		AtPageLimit:  o.parts.Limits.IsClosing(),
	}
	if state, reason := o.parts.Run.State(); state != lifecycle.Running && state != lifecycle.Paused {
		f.Ended = fmt.Sprintf("%s (%s)", state, reason)
	} else if o.parts.Run.IsStopping() {
		f.Ended = "it stops"
	}
	_, f.Disk.Need = o.parts.Disk.Journal.Disk.Pauses()
	_, f.Shortage = o.parts.Outages.Shortage.Current(now)
	switch reason := o.parts.Outages.Gate.Reason(); reason {
	case "":
	case pauseReason:
		f.Paused = reason
	case outage.NoFilesReason:
		f.Shortage = reason
	default:
		if f.Disk.Need == 0 {
			f.Agents = reason
		}
	}
	var down time.Time
	if down, f.Connections.Workers = o.parts.Outages.Network.State(); !down.IsZero() {
		f.Connections.Down = now.Sub(down)
	}
	if s := o.parts.Outages.Way.State(now); !s.FailingSince.IsZero() {
		f.Connections.Way = doctor.Way{For: max(now.Sub(s.FailingSince), time.Nanosecond), Fault: s.Fault, Remedy: s.Remedy}
	}
	servers, since := o.parts.Outages.NameServers.Silent()
	if !since.IsZero() {
		f.Servers.Down = now.Sub(since)
	} else {
		servers = o.parts.Outages.NameServers.Servers()
	}
	names := make([]string, 0, len(servers))
	for _, s := range servers {
		names = append(names, s.String())
	}
	if f.Servers.Names = strings.Join(names, ", "); f.Servers.Names == "" {
		f.Servers.Names = "the name servers"
	}
	if addr := o.parts.Outages.NameServers.Hijack(); addr.IsValid() {
		f.Servers.Hijack = addr.String()
	}
	f.SitesHeld = o.parts.Shares.Waiting()
	for _, x := range o.parts.Exchanges.List(o.parts.Outages.Network.Workers()) {
		age := now.Sub(x.Began)
		if age < doctor.OldExchange {
			break // the oldest come first
		}
		if f.Old.Count++; f.Old.Count == 1 {
			f.Old.OldestURL, f.Old.OldestAge = string(x.URL), age
		}
	}
	o.fillAgents(&f)
	var err error
	f.Hosts, err = o.hosts.Survey(ctx)
	return Diagnoses{doctor.Diagnose(&f)}, err
}

// fillAgents adds what is known of the other agents: the one for which the most URLs wait, one that does not answer
// requests for address leases, and how many are here.
func (o *Operator) fillAgents(f *doctor.Figures) {
	if !o.parts.Cluster.IsShared() {
		return
	}
	r := o.parts.Reports.Report().Cluster
	f.Others = max(r.Here()-1, 0)
	for _, a := range r.Agents {
		if a.URLsWaiting > f.Peer.URLs {
			f.Peer = doctor.Peer{ID: a.ID, State: string(a.State), URLs: a.URLsWaiting}
		}
		if a.IsSilent {
			f.Silent = a.ID
		}
	}
}
