package doctor

import (
	"fmt"
	"time"

	"orbweaver/internal/options"
)

// conditions is the table, in order.
func conditions() []condition {
	return []condition{
		{Ended, func(f *Figures) bool { return f.Ended != "" }, func(f *Figures) (string, string, string) {
			return "the crawl does not go on: " + f.Ended, "resume it with: orbweaver crawl --dir DIR", ""
		}},
		{DiskFull, func(f *Figures) bool { return f.DiskNeed > 0 }, func(f *Figures) (string, string, string) {
			return fmt.Sprintf("the disk is full: %d MiB must be free", f.DiskNeed>>20),
				"make room; the crawl goes on by itself", "all exchanges wait for it"
		}},
		{Paused, func(f *Figures) bool { return f.Paused != "" }, func(f *Figures) (string, string, string) {
			return "no exchange begins: " + f.Paused, "orbweaver ctl resume",
				fmt.Sprintf("%d sites are due now", f.Hosts.DueNow)
		}},
		{Network, (*Figures).isNetworkShort, network},
		{Descriptors, func(f *Figures) bool { return f.Shortage != "" }, func(f *Figures) (string, string, string) {
			return "this machine lacks " + f.Shortage, "raise the limit of open files (ulimit -n), or lower --fetchers",
				fmt.Sprintf("%d of %d fetch workers are in an exchange", f.Busy, f.Fetchers)
		}},
		{NameServers, func(f *Figures) bool { return f.NameServersDown > 0 && f.Hosts.Unresolved > 0 },
			func(f *Figures) (string, string, string) {
				return fmt.Sprintf("no answer from %s for %v", f.NameServers, round(f.NameServersDown)),
					"check the name servers, or name others with --resolver",
					fmt.Sprintf("%d hosts without an address", f.Hosts.Unresolved)
			}},
		{Processor, func(f *Figures) bool { return f.ParsersBehind }, func(f *Figures) (string, string, string) {
			return fmt.Sprintf("parse workers are behind: %d pages wait for them", f.PagesOut),
				"run on more or faster processors; lower --warc-level", fmt.Sprintf("%d sites are due now", f.Hosts.DueNow)
		}},
		{SlowDisk, func(f *Figures) bool { return f.SyncTook >= time.Second }, func(f *Figures) (string, string, string) {
			return fmt.Sprintf("the disk is slow: a sync takes %v", round(f.SyncTook)),
				"use a faster disk for the crawl directory, and stop what else writes to it",
				"pages are stored sooner; less is fetched again after a power cut"
		}},
		{Bandwidth, func(f *Figures) bool { return f.Bandwidth.IsThrottling }, func(f *Figures) (string, string, string) {
			return fmt.Sprintf("bandwidth: the limit of %s is reached", options.FormatRate(f.Bandwidth.Total)),
				"raise --bandwidth, or orbweaver ctl set bandwidth RATE",
				fmt.Sprintf("%d more sites are due now", f.Hosts.DueNow)
		}},
		{HostLimit, (*Figures).areHostsLimited, func(f *Figures) (string, string, string) {
			return fmt.Sprintf("bandwidth: %d of %d exchanges wait for the limit of their host",
					f.Bandwidth.HostsWaiting, f.Busy),
				"raise --host-bandwidth, or host-bandwidth in a host rule, if the owners of the hosts agree", ""
		}},
		{BlackHoles, func(f *Figures) bool { return f.OldExchanges > 0 && 2*f.OldExchanges >= f.Fetchers },
			func(f *Figures) (string, string, string) {
				return fmt.Sprintf("servers do not answer: %d of %d fetch workers wait 10 s or longer, the oldest %v: %.120s",
						f.OldExchanges, f.Fetchers, round(f.OldestAge), f.OldestURL),
					"block the hosts (ctl active, ctl block), or raise --fetchers",
					fmt.Sprintf("%d more sites are due now", f.Hosts.DueNow)
			}},
		{Fetchers, func(f *Figures) bool { return f.Busy >= f.Fetchers && f.Hosts.DueNow > 0 },
			func(f *Figures) (string, string, string) {
				return fmt.Sprintf("all %d fetch workers are in an exchange", f.Fetchers), "raise --fetchers",
					fmt.Sprintf("%d more exchanges could begin now", f.Hosts.DueNow)
			}},
		{DNS, func(f *Figures) bool { return f.isIdle() && f.Hosts.Unresolved > f.Hosts.Sites/2 },
			func(f *Figures) (string, string, string) {
				return fmt.Sprintf("name lookups: %d hosts have no address yet, asked of %s", f.Hosts.Unresolved, f.NameServers),
					"use name servers that are nearer or faster (--resolver)",
					"these hosts could be asked at once"
			}},
		{Memory, func(f *Figures) bool { return f.MemoryFull && f.isIdle() }, func(f *Figures) (string, string, string) {
			return "the memory for queues is full: hosts wait for others to be read from disk", "raise --workbench-memory", ""
		}},
		{FailingSite, (*Figures).areFailing,
			func(f *Figures) (string, string, string) {
				return fmt.Sprintf("%d sites that fail or ask to slow down have %d of %d queued URLs", f.Hosts.Failing,
						f.Hosts.FailingURL, f.Hosts.URLs),
					"see ctl hosts --sort errors; wait, or block them with ctl block", ""
			}},
		{HugeHost, func(f *Figures) bool { return f.isIdle() && isMost(f.Hosts.Largest.Queued, f.Hosts.URLs) }, hugeHost},
		{Politeness, func(f *Figures) bool { return f.isIdle() && f.Hosts.Sites > 0 }, politeness},
		{Sieve, func(f *Figures) bool { return f.isIdle() && f.Hosts.Sites == 0 && f.SievePending > 0 },
			func(f *Figures) (string, string, string) {
				return fmt.Sprintf("%d new links are being compared with the known URLs", f.SievePending),
					"none is needed", "they are queued"
			}},
	}
}

// areHostsLimited reports whether most exchanges wait for the limit of their host.
func (f *Figures) areHostsLimited() bool {
	return f.Bandwidth.HostsWaiting > 0 && 2*f.Bandwidth.HostsWaiting >= f.Busy
}

// isNetworkShort reports whether the network is down, or carries fewer connections than there are workers.
func (f *Figures) isNetworkShort() bool {
	return f.NetworkDown > 0 || f.NetworkWorkers > 0 && f.NetworkWorkers < f.Fetchers
}

// areFailing reports whether failing sites have most of the queued URLs.
func (f *Figures) areFailing() bool {
	return f.isIdle() && f.Hosts.Failing > 0 && 2*f.Hosts.FailingURL >= f.Hosts.URLs
}

func network(f *Figures) (text, remedy, ifLifted string) {
	if f.NetworkDown > 0 {
		return fmt.Sprintf("the network: no server can be reached for %v", round(f.NetworkDown)),
			"check the connection of this machine; the crawl goes on by itself", "all exchanges wait for it"
	}
	return fmt.Sprintf("the network: connections time out, so %d of %d fetch workers go on", f.NetworkWorkers, f.Fetchers),
		"lower --fetchers to what the network carries, or use a faster one", ""
}

func hugeHost(f *Figures) (text, remedy, ifLifted string) {
	h := &f.Hosts.Largest
	takes := time.Duration(float64(h.Queued) * h.DelaySeconds * float64(time.Second))
	return fmt.Sprintf("one host has %d of %d queued URLs: %s, with %.4gs between two requests", h.Queued, f.Hosts.URLs,
			h.Site, h.DelaySeconds),
		"orbweaver ctl rule HOST host-delay=TIME if its owner agrees, or max-per-host=N",
		fmt.Sprintf("at this delay its queue takes %v; at half of it half as long", round(takes))
}

func politeness(f *Figures) (text, remedy, ifLifted string) {
	h := &f.Hosts.Slowest
	why := ""
	if len(h.Waits) > 0 {
		why = " (" + h.Waits[0].Text + ")"
	}
	return fmt.Sprintf("politeness: %d sites with %d URLs wait for their delay, the first is due in %v", f.Hosts.Sites,
			f.Hosts.URLs, round(f.Hosts.NextDue)),
		"more hosts in scope keep more fetch workers busy; a shorter --host-delay only if site owners agree",
		fmt.Sprintf("the longest is %s: %d URLs take %v at its delay%s", h.Site, h.Queued, round(f.Hosts.SlowestFor), why)
}
