package doctor

import (
	"fmt"
	"time"

	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/options"
	"orbweaver/internal/outcome"
	"orbweaver/internal/plural"
)

// conditions is the table, in order: what keeps all exchanges back, what keeps more exchanges back, and then what is
// left when nothing can be fetched now.
func conditions() []condition {
	return []condition{
		{Ended, true, func(f *Figures) bool { return f.Ended != "" }, ended},
		{DiskFull, true, func(f *Figures) bool { return f.Disk.Need > 0 }, diskFull},
		{Paused, true, func(f *Figures) bool { return f.Paused != "" }, paused},
		{Agents, true, func(f *Figures) bool { return f.Agents != "" }, agents},
		{Gateway, false, func(f *Figures) bool { return f.Connections.Way.For > 0 }, gateway},
		{Network, false, (*Figures).isNetworkShort, network},
		{Descriptors, false, func(f *Figures) bool { return f.Shortage != "" }, descriptors},
		{NameServers, false, (*Figures).areServersSilent, nameServers},
		{PageLimit, true, func(f *Figures) bool { return f.AtPageLimit }, pageLimit},
		{SlowDisk, false, func(f *Figures) bool { return f.Disk.WriteTook > 0 }, slowWrites},
		{Hook, false, func(f *Figures) bool { return f.Hook != "" }, hooked},
		{Processor, false, (*Figures).isProcessorShort, processor},
		{Bandwidth, false, func(f *Figures) bool { return f.Bandwidth.IsThrottling }, totalLimit},
		{HostLimit, false, (*Figures).areHostsLimited, hostLimit},
		{BodyFiles, false, (*Figures).areBodiesWaiting, bodies},
		{BlackHoles, false, (*Figures).areHoles, blackHoles},
		{Fetchers, false, (*Figures).areWorkersShort, fetchers},
		{DNS, false, func(f *Figures) bool { return f.isIdle() && 2*f.Hosts.Unresolved > f.Hosts.Sites }, names},
		{Memory, false, (*Figures).isMemoryShort, memory},
		{Agents, false, func(f *Figures) bool { return f.Silent != "" && f.isIdle() }, silentAgent},
		{Agents, false, (*Figures).isPeerSlow, peer},
		{Agents, false, func(f *Figures) bool { return f.Hosts.Sites == 0 && f.Busy == 0 && f.Others > 0 }, otherAgents},
		{Walls, false, (*Figures).areWalled, walled},
		{FailingSite, false, func(f *Figures) bool { return f.areFailing() && !f.areWalled() }, failing},
		{HugeHost, false, (*Figures).isHostHuge, hugeHost},
		{Politeness, false, (*Figures).areSitesWaiting, politeness},
		{SlowDisk, false, func(f *Figures) bool { return f.Disk.WriteTook == 0 && f.Disk.SyncTook > 0 }, slowSyncs},
		{BodyFiles, false, func(f *Figures) bool { return f.Bodies.Waiting > 0 && !f.areBodiesWaiting() }, bodies},
		{Upload, false, func(f *Figures) bool { return f.Disk.Unsent != "" }, unsent},
		{Sieve, false, func(f *Figures) bool { return f.isIdle() && f.Hosts.Sites == 0 && f.SievePending > 0 }, sieve},
		{Hijack, false, func(f *Figures) bool { return f.Servers.Hijack != "" }, hijacked},
	}
}

// isProcessorShort reports whether parse workers are behind, and wait for nothing but the processor.
func (f *Figures) isProcessorShort() bool {
	return f.ParsersBehind && f.Hook == "" && f.Disk.WriteTook == 0
}

// areHostsLimited reports whether most exchanges wait for the limit of their host.
func (f *Figures) areHostsLimited() bool {
	return f.Bandwidth.HostsWaiting > 0 && 2*f.Bandwidth.HostsWaiting >= f.Busy
}

// areBodiesWaiting reports whether most exchanges wait for room for a long body.
func (f *Figures) areBodiesWaiting() bool {
	return f.Bodies.Waiting > 0 && 2*f.Bodies.Waiting >= f.Busy
}

// isNetworkShort reports whether the network is down, or carries fewer connections than there are workers.
func (f *Figures) isNetworkShort() bool {
	return f.Connections.Down > 0 || f.Connections.Workers > 0 && f.Connections.Workers < f.Fetchers
}

func (f *Figures) areServersSilent() bool { return f.Servers.Down > 0 && f.Hosts.Unresolved > 0 }

// areWorkersShort reports whether all fetch workers that may serve them are busy, and sites wait for one.
func (f *Figures) areWorkersShort() bool {
	return f.Busy >= f.Fetchers && f.Hosts.DueNow > 0 || f.areSharesFull()
}

// areSharesFull reports whether new or slow sites have all fetch workers of their share: half of them at least.
func (f *Figures) areSharesFull() bool { return f.SitesHeld > 0 && 2*f.Busy >= f.Fetchers }

// areHoles reports whether most fetch workers wait for servers that do not answer.
func (f *Figures) areHoles() bool { return f.Old.Count > 0 && 2*f.Old.Count >= f.Fetchers }

// isMemoryShort reports whether sites could be asked whose URLs are all on disk. A full workbench alone limits nothing:
// sites that wait for their delay need no memory.
func (f *Figures) isMemoryShort() bool {
	return f.MemoryFull && f.isIdle() && f.Hosts.OnDiskOnly > 0 && 8*f.Hosts.OnDiskOnly >= f.Hosts.Sites
}

// isPeerSlow reports whether more URLs wait for another agent than for the sites of this one.
func (f *Figures) isPeerSlow() bool { return f.isIdle() && f.Peer.URLs > int64(f.Hosts.URLs) }

// areFailing reports whether failing sites have most of the queued URLs.
func (f *Figures) areFailing() bool {
	return f.isIdle() && f.Hosts.Outlook.AreMostFailing()
}

// areWalled reports whether failing sites have most of the queued URLs, and most of these sites meet a wall.
func (f *Figures) areWalled() bool {
	o := &f.Hosts.Outlook
	return f.areFailing() && o.Cause == outcome.Wall.String() && 2*o.CauseSites > o.Failing
}

// isAllFailing reports whether failing sites have all queued URLs: then no delay of politeness limits the crawl.
func (f *Figures) isAllFailing() bool {
	return f.areFailing() && f.Hosts.Outlook.FailingURLs >= f.Hosts.URLs
}

// healthy are the sites that do not fail, and their URLs.
func (f *Figures) healthy() (sites int, urls uint64) {
	o := &f.Hosts.Outlook
	return f.Hosts.Sites - o.Failing, f.Hosts.URLs - min(o.FailingURLs, f.Hosts.URLs)
}

// areSitesWaiting reports whether healthy sites wait for their delay while workers have nothing to do.
func (f *Figures) areSitesWaiting() bool {
	sites, urls := f.healthy()
	return f.isIdle() && sites > 0 && urls > 0
}

// isHostHuge reports whether one host has most of the queued URLs.
func (f *Figures) isHostHuge() bool {
	return f.isIdle() && isMost(f.Hosts.Largest.Queued, f.Hosts.URLs) && !f.isAllFailing()
}

// dueNow says how many sites could be asked now.
func dueNow(f *Figures, site string) string {
	n := f.Hosts.DueNow
	return fmt.Sprintf("%s %s due now", plural.Count(n, site), plural.Verb(n, "is", "are"))
}

func ended(f *Figures) (text, remedy, ifLifted string) {
	return "the crawl does not go on: " + f.Ended, "resume it with: orbweaver crawl --dir DIR", ""
}

func diskFull(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("the disk is full: %d MiB must be free", f.Disk.Need>>20),
		"make room; the crawl goes on by itself", "all exchanges wait for it"
}

func pageLimit(*Figures) (text, remedy, ifLifted string) {
	return lifecycle.RequisitesLeft, "wait: the crawl ends when none comes for " + lifecycle.RequisitesMax.String() +
		". ctl stop ends it now, ctl set max-pages=N lets it go on", ""
}

func paused(f *Figures) (text, remedy, ifLifted string) {
	return "no exchange begins: " + f.Paused, "orbweaver ctl resume",
		dueNow(f, "site")
}

func agents(f *Figures) (text, remedy, ifLifted string) {
	return "no exchange begins: " + f.Agents, "see orbweaver ctl agents: start or reach the other agents",
		dueNow(f, "site")
}

func gateway(f *Figures) (text, remedy, ifLifted string) {
	w := &f.Connections.Way
	return fmt.Sprintf("the way to the sites: %s; no site has answered for %v", w.Fault, round(w.For)), w.Remedy,
		"all exchanges wait for it; the crawl goes on by itself"
}

func network(f *Figures) (text, remedy, ifLifted string) {
	if f.Connections.Down > 0 {
		return fmt.Sprintf("the network: no server can be reached for %v", round(f.Connections.Down)),
			"check the connection of this machine; the crawl goes on by itself", "all exchanges wait for it"
	}
	return fmt.Sprintf("the network: connections time out, so %d of %d fetch workers go on", f.Connections.Workers,
			f.Fetchers),
		"lower --fetchers to what the network carries, or use a faster one", ""
}

func descriptors(f *Figures) (text, remedy, ifLifted string) {
	return "this machine: " + f.Shortage, "raise the limit of open files (ulimit -n), or lower --fetchers",
		fmt.Sprintf("%d of %d fetch workers are in an exchange", f.Busy, f.Fetchers)
}

func nameServers(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("no answer from %s for %v", f.Servers.Names, round(f.Servers.Down)),
		"check the name servers, or name others with --resolver",
		plural.Count(f.Hosts.Unresolved, "host") + " without an address"
}

func hijacked(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("%s: names that do not exist get the address %s", f.Servers.Names, f.Servers.Hijack),
		"name other servers with --resolver", "the archive has pages of hosts that do not exist"
}

func slowWrites(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("the disk is slow: a write takes %v, and %s %s to be stored",
			f.Disk.WriteTook.Round(10*time.Millisecond), plural.Count(f.PagesOut, "page"),
			plural.Verb(f.PagesOut, "waits", "wait")),
		"use a faster disk for the crawl directory, and stop what else writes to it",
		dueNow(f, "site")
}

func unsent(f *Figures) (text, remedy, ifLifted string) {
	return f.Disk.Unsent, "see the log for its last error; the files are sent when it takes them again",
		"the crawl goes on; its files take room on the disk"
}

func hooked(f *Figures) (text, remedy, ifLifted string) {
	return f.Hook, "make the program faster, raise --hook-parallel if it can use more pages, or give --hook-full skip; " +
		"the log has its errors", "parse workers do not wait for it, and each page has its answer"
}

func slowSyncs(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("the disk is slow: a sync takes %v", round(f.Disk.SyncTook)),
		"use a faster disk for the crawl directory, and stop what else writes to it",
		"pages are durable sooner; less is fetched again after a power cut"
}

func processor(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("parse workers are behind: %s %s for them", plural.Count(f.PagesOut, "page"),
			plural.Verb(f.PagesOut, "waits", "wait")),
		"run on more or faster processors; lower --warc-level", dueNow(f, "site")
}

func totalLimit(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("bandwidth: the limit of %s is reached", options.FormatRate(f.Bandwidth.Total)),
		"raise --bandwidth, or orbweaver ctl set bandwidth RATE",
		dueNow(f, "more site")
}

func hostLimit(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("bandwidth: %d of %d exchanges wait for the limit of their host",
			f.Bandwidth.HostsWaiting, f.Busy),
		"raise --host-bandwidth, or host-bandwidth in a host rule, if the owners of the hosts agree", ""
}

func bodies(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("long bodies: %s %s for room, and %s %s %d MiB",
			plural.Count(f.Bodies.Waiting, "exchange"), plural.Verb(f.Bodies.Waiting, "waits", "wait"),
			plural.Count(f.Bodies.Files, "body file"), plural.Verb(f.Bodies.Files, "has", "have"), f.Bodies.Bytes>>20),
		"raise --max-body-files if the disk has room, or lower --max-body",
		fmt.Sprintf("%d of %d exchanges go on", f.Bodies.Waiting, f.Busy)
}

func blackHoles(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("servers do not answer: %d of %d fetch workers wait %v or longer, the oldest %v: %.120s",
			f.Old.Count, f.Fetchers, OldExchange, round(f.Old.OldestAge), f.Old.OldestURL),
		"block the hosts (ctl active, ctl block), or raise --fetchers",
		dueNow(f, "more site")
}

func allWorkers(n int) string {
	if n == 1 {
		return "the only fetch worker is"
	}
	return fmt.Sprintf("all %d fetch workers are", n)
}

func fetchers(f *Figures) (text, remedy, ifLifted string) {
	text = allWorkers(f.Fetchers) + " in an exchange"
	if f.Busy < f.Fetchers {
		text = fmt.Sprintf("%d of %d fetch workers are in an exchange; the others are not for new or slow sites",
			f.Busy, f.Fetchers)
	}
	return text, "raise --fetchers", plural.Count(f.Hosts.DueNow+f.SitesHeld, "more exchange") + " could begin now"
}

func names(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("name lookups: %s %s no address yet, asked of %s", plural.Count(f.Hosts.Unresolved, "host"),
			plural.Verb(f.Hosts.Unresolved, "has", "have"), f.Servers.Names),
		"use name servers that are nearer or faster (--resolver)",
		"these hosts could be asked at once"
}

func memory(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("the memory for queues is full: %d of %d sites wait for their URLs to be read from disk",
			f.Hosts.OnDiskOnly, f.Hosts.Sites),
		"raise --workbench-memory", "these sites could be asked at once"
}

func peer(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("another agent: %s %s for %s (%s), more than for the sites of this agent",
			plural.Count(f.Peer.URLs, "URL"), plural.Verb(f.Peer.URLs, "waits", "wait"), f.Peer.ID, f.Peer.State),
		"see orbweaver ctl agents, and ask that agent with orbweaver doctor", "that agent could fetch them"
}

func silentAgent(f *Figures) (text, remedy, ifLifted string) {
	return f.Silent + " does not answer requests for address leases in time",
		"check the network between the agents, and the load of that machine: see orbweaver ctl agents",
		"the sites on addresses that it grants wait for it"
}

func otherAgents(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("%s: this one has no queued URLs, and waits for theirs", plural.Count(f.Others, "other agent")),
		"none is needed here: see orbweaver ctl agents, and ask those agents with orbweaver doctor", ""
}

func failing(f *Figures) (text, remedy, ifLifted string) {
	return f.Hosts.Outlook.String(), "see ctl hosts --sort errors, and wait. " + ending.HowToEndSooner, ""
}

func walled(f *Figures) (text, remedy, ifLifted string) {
	o := &f.Hosts.Outlook
	return fmt.Sprintf("walls: a protection service answers in place of %s; %s", plural.Count(o.CauseSites, "site"), o),
		"orbweaver report DIR walls lists them: ask their owners to let this crawler in, slow down, or ctl block them", ""
}

func hugeHost(f *Figures) (text, remedy, ifLifted string) {
	h := &f.Hosts.Largest
	takes := time.Duration(float64(h.Queued) * h.DelaySeconds * float64(time.Second))
	return fmt.Sprintf("one host has %d of %s: %s, with %.4gs between two requests", h.Queued,
			plural.Count(f.Hosts.URLs, "queued URL"), h.Site, h.DelaySeconds),
		"orbweaver ctl rule HOST host-delay=TIME if its owner agrees, or max-per-host=N",
		fmt.Sprintf("at this delay its queue takes %v; at half of it half as long", round(takes))
}

func politeness(f *Figures) (text, remedy, ifLifted string) {
	h := &f.Hosts.Slowest
	why := ""
	if len(h.Waits) > 0 {
		why = " (" + h.Waits[0].Text + ")"
	}
	n, urls := f.healthy()
	until := plural.Verb(n, "waits for its delay and is due ", "wait for their delay, the first is due ")
	if due := round(f.Hosts.NextDue); due > 0 {
		until += "in " + due.String()
	} else {
		until += "now"
	}
	if f.Hosts.NextDue < 0 {
		until = plural.Verb(n, "waits", "wait") + " until an exchange under way has ended"
	}
	return fmt.Sprintf("politeness: %s with %s %s", plural.Count(n, "site"), plural.Count(urls, "URL"), until),
		"more hosts in scope keep more fetch workers busy; a shorter --host-delay only if site owners agree",
		fmt.Sprintf("the longest is %s: %s %s %v at its delay%s", h.Site, plural.Count(h.Queued, "URL"),
			plural.Verb(h.Queued, "takes", "take"), round(f.Hosts.SlowestFor), why)
}

func sieve(f *Figures) (text, remedy, ifLifted string) {
	return fmt.Sprintf("%s %s being compared with the known URLs", plural.Count(f.SievePending, "new link"),
		plural.Verb(f.SievePending, "is", "are")), "none is needed", "new ones are queued"
}
