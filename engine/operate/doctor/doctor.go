package doctor

import (
	"fmt"
	"time"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/bodyfile"
	"orbweaver/engine/operate/hosts"
)

// Figures are what a diagnosis is made of.
type Figures struct {
	Ended       string // the crawl has ended or stops: how; "" while it runs
	Paused      string // the operator's pause; "" without one
	AtPageLimit bool   // --max-pages is reached, and page requisites are left
	Agents      string // why the other agents keep exchanges from beginning; "" if they do not

	Connections Connections
	Shortage    string // what this machine lacks: descriptors, ports; "" for nothing
	Servers     Servers

	Fetchers, Busy int // fetch workers, and those in an exchange
	Old            OldExchanges

	SitesHeld     int // due sites, new or slow, that wait for a fetch worker of their share
	ParsersBehind bool
	PagesOut      int64 // fetched, and not yet stored
	MemoryFull    bool  // the workbench has no room for more URLs
	SievePending  int64 // links that are not yet compared with the known URLs

	Bandwidth bandwidth.State
	Bodies    bodyfile.Stats
	Disk      Disk
	Hook      string // how the program of --hook limits the crawl, or that it fails; "" if it does neither
	Hosts     hosts.Survey
	Peer      Peer
	Silent    string // another agent that does not answer requests for address leases; "" if all do
	Others    int    // other agents that are here
}

// Disk is what is known of a disk that is full or slow.
type Disk struct {
	Need      int64         // bytes that must be free before the crawl goes on; 0 if the disk is not full
	SyncTook  time.Duration // 0 if that is not long
	WriteTook time.Duration // 0 if that is not long
	Unsent    string        // WARC files that a receiver does not take; "" if there are none
}

// Connections are what is known about the way to the sites.
type Connections struct {
	Way     Way
	Down    time.Duration // for so long no server could be reached; 0 if some can
	Workers int           // fetch workers that go on while connections time out
}

// Way is what is wrong with the proxy, or with another gateway on the way to the sites.
type Way struct {
	For           time.Duration // for so long no site has answered; 0 if nothing is wrong
	Fault, Remedy string
}

// OldExchanges are the exchanges under way for OldExchange or longer.
type OldExchanges struct {
	Count     int
	OldestURL string
	OldestAge time.Duration
}

// Peer is the other agent for which the most URLs wait.
type Peer struct {
	ID    string
	State string // as membership has it
	URLs  int64  // that it has not acknowledged
}

// OldExchange is the age from which an exchange counts as one whose server does not answer: a server that is well
// answers sooner, and a connection that cannot be made is given up after 10 s.
const OldExchange = 3 * time.Second

// Diagnosis is one thing that limits the crawl.
type Diagnosis struct {
	Cause    string `json:"cause"`     // a word for programs
	Text     string `json:"text"`      // with figures
	Remedy   string `json:"remedy"`    // what the operator can do
	IfLifted string `json:"if_lifted"` // what would change then; "" if that is not known
}

// Servers are the name servers.
type Servers struct {
	Names  string        // their addresses
	Down   time.Duration // for so long none of them has answered
	Hijack string        // address that they give to names that do not exist; "" if they give none
}

// The causes.
const (
	Ended       = "ended"
	Paused      = "paused"
	Agents      = "agents"
	DiskFull    = "disk-full"
	Network     = "network"
	Gateway     = "gateway"
	Descriptors = "descriptors"
	NameServers = "name-servers"
	PageLimit   = "max-pages"
	Processor   = "processor"
	SlowDisk    = "slow-disk"
	Upload      = "upload"
	Hook        = "hook"
	Fetchers    = "fetchers"
	BodyFiles   = "body-files"
	BlackHoles  = "black-holes"
	Bandwidth   = "bandwidth"
	HostLimit   = "host-bandwidth"
	DNS         = "dns"
	Hijack      = "dns-hijack"
	Memory      = "memory"
	HugeHost    = "huge-host"
	FailingSite = "failing-sites"
	Walls       = "walls"
	Politeness  = "politeness"
	Sieve       = "sieve"
	Nothing     = "nothing"
)

// condition is a row of the table.
type condition struct {
	cause   string
	isAlone bool // no other row is looked at
	holds   func(f *Figures) bool
	says    func(f *Figures) (text, remedy, ifLifted string)
}

// Diagnose returns what limits the crawl, the strongest first. There is always at least one.
func Diagnose(f *Figures) []Diagnosis {
	var all []Diagnosis
	for _, c := range conditions() {
		if !c.holds(f) {
			continue
		}
		d := Diagnosis{Cause: c.cause}
		d.Text, d.Remedy, d.IfLifted = c.says(f)
		all = append(all, d)
		if c.isAlone {
			return all // nothing else matters then
		}
	}
	if len(all) == 0 {
		text := "nothing: sites are due and are asked"
		if f.Hosts.Sites == 0 {
			text = "nothing: the last URLs are asked, or on their way"
		}
		all = append(all, Diagnosis{
			Cause: Nothing, Text: text, Remedy: "none is needed",
			IfLifted: fmt.Sprintf("%d of %d fetch workers are in an exchange", f.Busy, f.Fetchers),
		})
	}
	return all
}

// isIdle reports whether fetch workers have nothing to do, though they take all sites that are due.
func (f *Figures) isIdle() bool { return f.Busy+f.Hosts.DueNow < f.Fetchers && !f.areSharesFull() }

// isMost reports whether n is at least nine tenths of all.
func isMost(n, all uint64) bool { return n > 0 && 10*n >= 9*all }

func round(d time.Duration) time.Duration {
	if d < 10*time.Second {
		return d.Round(100 * time.Millisecond)
	}
	return d.Round(time.Second)
}
