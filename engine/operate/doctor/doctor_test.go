package doctor

import (
	"strings"
	"testing"
	"time"

	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/bodyfile"
	"orbweaver/engine/operate/hosts"
)

// running are the figures of a crawl that is polite and has nothing else to complain of.
func running(change func(*Figures)) *Figures {
	f := &Figures{Fetchers: 100, Busy: 3, Connections: Connections{Workers: 100}, Servers: Servers{Names: "192.0.2.53"}}
	f.Hosts = hosts.Survey{
		Sites: 40, URLs: 1000, NextDue: 2 * time.Second, SlowestFor: time.Hour,
		Largest: hosts.Host{Site: "http://large.test", Queued: 200, DelaySeconds: 4},
		Slowest: hosts.Host{Site: "http://slow.test", Queued: 90, DelaySeconds: 40, Waits: []hosts.Wait{
			{Reason: hosts.CrawlDelay, Text: "Crawl-delay 40s of its robots.txt"}}},
	}
	change(f)
	return f
}

// Each condition is the first answer where it limits the crawl most, with the figure that shows it.
func TestDiagnoseNamesTheStrongestLimitFirst(t *testing.T) {
	for _, c := range []struct {
		cause  string
		change func(*Figures)
		figure string
	}{
		{Ended, func(f *Figures) { f.Ended = "finished: complete" }, "finished: complete"},
		{Paused, func(f *Figures) { f.Paused = "paused by the operator" }, "paused by the operator"},
		{PageLimit, func(f *Figures) { f.AtPageLimit = true }, "--max-pages is reached"},
		{DiskFull, func(f *Figures) { f.Disk.Need = 64 << 20 }, "64 MiB"},
		{Agents, func(f *Figures) { f.Agents = "waiting for the other agents" }, "waiting for the other agents"},
		{Agents, func(f *Figures) { f.Peer = Peer{ID: "a2", State: "suspected", URLs: 5000} }, "5,000 URLs wait for a2"},
		{Agents, func(f *Figures) { f.Silent = "a3" }, "a3 does not answer requests for address leases"},
		{Gateway, func(f *Figures) {
			f.Connections.Way = Way{time.Minute, "the proxy asks for a password (407)", "--proxy"}
		}, "the proxy asks for a password (407); no site has answered for 1m0s"},
		{Network, func(f *Figures) { f.Connections.Down = time.Minute }, "1m0s"},
		{Network, func(f *Figures) { f.Connections.Workers = 12 }, "12 of 100"},
		{Descriptors, func(f *Figures) { f.Shortage = "file descriptors" }, "file descriptors"},
		{NameServers, func(f *Figures) { f.Servers.Down, f.Hosts.Unresolved = 12*time.Second, 30 }, "192.0.2.53 for 12s"},
		{DNS, func(f *Figures) { f.Hosts.Unresolved = 50 }, "50 hosts have no address yet"},
		{Processor, func(f *Figures) { f.ParsersBehind, f.PagesOut, f.Hosts.DueNow = true, 17, 5 }, "17 pages"},
		{Hook, func(f *Figures) {
			f.Hook, f.ParsersBehind, f.PagesOut = "the program of --hook: it has 16 questions, and 4 wait for it", true, 17
		}, "16 questions, and 4 wait"},
		{SlowDisk, func(f *Figures) { f.Disk.WriteTook, f.ParsersBehind = 400*time.Millisecond, true }, "400ms"},
		{SlowDisk, func(f *Figures) { f.Disk.SyncTook, f.Hosts.DueNow, f.Busy = 3*time.Second, 80, 40 }, "3s"},
		{BlackHoles, func(f *Figures) {
			f.Busy, f.Old.Count, f.Old.OldestAge, f.Old.OldestURL = 100, 95, time.Minute, "http://hole.test/"
		}, "95 of 100"},
		{Bandwidth, func(f *Figures) {
			f.Bandwidth = bandwidth.State{Total: 10 << 20, IsThrottling: true}
			f.Busy, f.Old.Count, f.Hosts.DueNow = 100, 90, 60
		}, "10MiB/s"},
		{HostLimit, func(f *Figures) { f.Bandwidth.HostsWaiting, f.Busy, f.Old.Count = 95, 100, 95 }, "95 of 100"},
		{BodyFiles, func(f *Figures) {
			f.Bodies, f.Busy, f.Old.Count = bodyfile.Stats{Files: 4, Bytes: 9 << 20, Waiting: 80, Waits: 95}, 100, 95
		}, "80 exchanges wait for room, and 4 body files have 9 MiB"},
		{Fetchers, func(f *Figures) { f.Busy, f.Old.Count, f.Hosts.DueNow = 100, 2, 60 }, "all 100"},
		{Fetchers, func(f *Figures) { f.Busy, f.SitesHeld = 75, 60 }, "75 of 100 fetch workers are in an exchange"},
		{Memory, func(f *Figures) { f.MemoryFull, f.Hosts.OnDiskOnly = true, 12 }, "12 of 40 sites"},
		{Politeness, func(f *Figures) { f.MemoryFull = true }, "40 sites with 1,000 URLs"},
		{FailingSite, func(f *Figures) {
			f.Hosts.Outlook = ending.Outlook{
				Sites: 40, URLs: 1000, Failing: 7, FailingURLs: 800, Cause: "refused", CauseSites: 7,
			}
		}, "7 sites fail or ask to slow down: refused; 800 of 1,000"},
		{Walls, func(f *Figures) {
			f.Hosts.Outlook = ending.Outlook{
				Sites: 40, URLs: 1000, Failing: 7, FailingURLs: 800, Cause: "wall", CauseSites: 4,
			}
		}, "in place of 4 sites; 7 sites fail or ask to slow down: wall (4 of them); 800 of 1,000"},
		{FailingSite, func(f *Figures) {
			f.Hosts.Outlook = ending.Outlook{
				Sites: 40, URLs: 1000, Failing: 7, FailingURLs: 800, Cause: "wall", CauseSites: 3,
			}
		}, "7 sites fail"},
		{HugeHost, func(f *Figures) { f.Hosts.Largest.Queued = 950 }, "http://large.test"},
		{Politeness, func(*Figures) {}, "40 sites with 1,000 URLs"},
		{Sieve, func(f *Figures) { f.Hosts, f.SievePending = hosts.Survey{}, 9 }, "9 new links"},
		{Politeness, func(f *Figures) { f.Hosts.DueNow, f.Busy = 12, 40 }, "40 sites"},
		{Nothing, func(f *Figures) { f.Hosts.DueNow, f.Busy = 80, 40 }, "sites are due"},
	} {
		all := Diagnose(running(c.change))
		if first := all[0]; first.Cause != c.cause || !strings.Contains(first.Text, c.figure) || first.Remedy == "" {
			t.Errorf("%s: %+v", c.cause, all)
		}
	}
}

// Of one thing there is no plural.
func TestDiagnoseOfOneSite(t *testing.T) {
	for want, change := range map[string]func(*Figures){
		"politeness: 1 site with 1 URL waits for its delay and is due in 3s": func(f *Figures) {
			f.Hosts = hosts.Survey{Sites: 1, URLs: 1, NextDue: 3 * time.Second}
		},
		"politeness: 1 site with 2 URLs waits until an exchange under way has ended": func(f *Figures) {
			f.Hosts = hosts.Survey{Sites: 1, URLs: 2, NextDue: -1}
		},
		"1 site fails or asks to slow down: refused; 1 of 1 URL": func(f *Figures) {
			f.Hosts = hosts.Survey{Sites: 1, URLs: 1, Outlook: ending.Outlook{
				Sites: 1, URLs: 1, Failing: 1, FailingURLs: 1, Cause: "refused", CauseSites: 1,
			}}
		},
		"the only fetch worker is in an exchange": func(f *Figures) { f.Fetchers, f.Busy, f.Hosts.DueNow = 1, 1, 1 },
		"1 new link is being compared with the known URLs": func(f *Figures) {
			f.Hosts, f.SievePending = hosts.Survey{}, 1
		},
	} {
		if first := Diagnose(running(change))[0]; first.Text != want {
			t.Errorf("%q\nwant %q", first.Text, want)
		}
	}
}

// Sites that fail do not wait for their delay: politeness is said of the others alone.
func TestDiagnoseOfPolitenessCountsHealthySitesAlone(t *testing.T) {
	all := Diagnose(running(func(f *Figures) {
		f.Hosts.Outlook = ending.Outlook{Sites: 40, URLs: 1000, Failing: 15, FailingURLs: 800}
	}))
	const want = "politeness: 25 sites with 200 URLs wait for their delay, the first is due in 2s"
	if len(all) != 2 || all[0].Cause != FailingSite || all[1].Text != want {
		t.Errorf("%+v", all)
	}
}

// An agent that has finished its share waits for the others. A crawl whose last URLs are stored waits for nothing.
func TestDiagnoseOfNoQueuedURLs(t *testing.T) {
	for others, want := range map[int]string{
		2: "2 other agents: this one has no queued URLs, and waits for theirs",
		0: "nothing: the last URLs are asked, or on their way",
	} {
		all := Diagnose(running(func(f *Figures) { f.Hosts, f.Busy, f.Others = hosts.Survey{}, 0, others }))
		if len(all) != 1 || all[0].Text != want {
			t.Errorf("%d others: %+v", others, all)
		}
	}
}

// If only failing sites have queued URLs, shorter delays would change nothing.
func TestDiagnoseOfFailingSitesNamesNoDelay(t *testing.T) {
	all := Diagnose(running(func(f *Figures) {
		f.Hosts.Outlook = ending.Outlook{Sites: 40, URLs: 1000, Failing: 1, FailingURLs: 1000}
		f.Hosts.Largest.Queued = 1000
	}))
	if len(all) != 1 || all[0].Cause != FailingSite {
		t.Errorf("%+v", all)
	}
}

// A few long bodies that wait for room limit the crawl less than politeness, and are named.
func TestDiagnoseNamesFewWaitingBodiesLast(t *testing.T) {
	all := Diagnose(running(func(f *Figures) { f.Bodies, f.Busy = bodyfile.Stats{Files: 4, Waiting: 2}, 40 }))
	if len(all) != 2 || all[0].Cause != Politeness || all[1].Cause != BodyFiles {
		t.Errorf("%+v", all)
	}
}

// A crawl with two limits names both, and what would change if the first were lifted.
func TestDiagnoseNamesWhatComesNext(t *testing.T) {
	all := Diagnose(running(func(f *Figures) { f.Disk.WriteTook, f.Hosts.Largest.Queued = 2*time.Second, 950 }))
	if len(all) != 3 || all[1].Cause != HugeHost || all[2].Cause != Politeness {
		t.Fatalf("%+v", all)
	}
	if want := "at this delay its queue takes 1h3m20s; at half of it half as long"; all[1].IfLifted != want {
		t.Errorf("%q", all[1].IfLifted)
	}
	if !strings.Contains(all[2].IfLifted, "Crawl-delay 40s of its robots.txt") {
		t.Errorf("%q", all[2].IfLifted)
	}
}

// WARC files that cannot be sent limit no exchange. They are named behind what does.
func TestDiagnoseNamesFilesThatAreNotSent(t *testing.T) {
	all := Diagnose(running(func(f *Figures) { f.Disk.Unsent = "the upload target has taken no WARC file for 2h" }))
	if len(all) != 2 || all[0].Cause != Politeness || all[1].Cause != Upload || all[1].Remedy == "" {
		t.Errorf("%+v", all)
	}
}

// Name servers that answer names that do not exist limit nothing, but falsify the archive. They are named last.
func TestDiagnose_namesAHijackLast(t *testing.T) {
	f := running(func(f *Figures) { f.Servers.Hijack = "192.0.2.80" })
	all := Diagnose(f)
	if last := all[len(all)-1]; last.Cause != Hijack || !strings.Contains(last.Text, "192.0.2.53") ||
		!strings.Contains(last.Text, "the address 192.0.2.80") {
		t.Errorf("%+v", all)
	}
}
