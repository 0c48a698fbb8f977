package operator

import (
	"bytes"
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/check/gaps"
	"orbweaver/internal/outcome"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/warc"
)

// stored is a record of the archive.
type stored struct {
	url, site string
	date      time.Time
	ip        netip.Addr
}

// politeness is an audit with all its judgements, and the records that these name.
type politeness struct {
	*gaps.Report
	judged  []gaps.Judgement
	records map[gaps.Place]stored
}

func auditPoliteness(t *testing.T, fsys vfs.FS) (p politeness) {
	t.Helper()
	o := gaps.Options{Judged: func(j gaps.Judgement) { p.judged = append(p.judged, j) }}
	var err error
	if p.Report, err = gaps.Audit(t.Context(), fsys, []string{"crawl"}, o); err != nil {
		t.Fatal(err)
	}
	files, err := warc.Files(fsys, "crawl/warc")
	if err != nil {
		t.Fatal(err)
	}
	p.records = map[gaps.Place]stored{}
	testbed.EachRecordAt(t, fsys, func(rec *warc.RecordRead, at warc.Checkpoint) {
		n := slices.IndexFunc(files, func(f warc.FileInfo) bool { return f.Serial == at.Serial })
		site, _ := urlx.Split(rec.TargetURI)
		ip, _ := netip.ParseAddr(rec.Get("WARC-IP-Address"))
		p.records[gaps.Place{File: "crawl/warc/" + files[n].Name, Offset: at.Length}] = stored{
			string(rec.TargetURI), string(site), rec.Date, ip,
		}
	})
	return p
}

// askedOf are the requests that the web saw, by site or address, in order.
func askedOf(log *arrivals.Log, key func(*arrivals.Arrival) string) map[string][]arrivals.Arrival {
	all := map[string][]arrivals.Arrival{}
	for a := range log.All() {
		all[key(&a)] = append(all[key(&a)], a)
	}
	for _, list := range all {
		slices.SortFunc(list, func(a, b arrivals.Arrival) int { return a.Time.Compare(b.Time) })
	}
	return all
}

// agrees holds each gap that the archive is said to prove against what the web saw: the same two requests, with none
// between, and as far apart.
func (p *politeness) agrees(t *testing.T, log *arrivals.Log) (kept int) {
	t.Helper()
	sites := askedOf(log, func(a *arrivals.Arrival) string { return a.Site })
	addrs := askedOf(log, func(a *arrivals.Arrival) string { return a.Addr.String() })
	for _, j := range p.judged {
		if j.Verdict != gaps.Kept || j.Earlier == (gaps.Place{}) {
			continue
		}
		earlier, later := p.records[j.Earlier], p.records[j.Later]
		list := sites[later.site]
		if j.ByAddress {
			list = addrs[later.ip.String()]
		} else {
			kept++
		}
		at := slices.IndexFunc(list, func(a arrivals.Arrival) bool { return a.Time.After(earlier.date) })
		if at < 0 || at+1 >= len(list) {
			t.Errorf("the web did not see %s and %s", earlier.url, later.url)
			continue
		}
		a, b := list[at], list[at+1]
		if outside := b.Time.Sub(a.End); a.URL != earlier.url || b.URL != later.url || outside < j.Gap-time.Millisecond ||
			outside > j.Gap+time.Second {
			t.Errorf("the archive has %s, %v, %s; the web saw %s, %v, %s", earlier.url, j.Gap, later.url,
				a.URL, outside, b.URL)
		}
	}
	return kept
}

// On a web without faults the archive proves every gap, and each is that of the outside log.
func TestPoliteness_theArchiveProvesEveryGapThatTheWebSaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(*testbed.FirstSeed+7000, simweb.Plain())
		world.Robots.CrawlDelay, world.Timing.CrawlDelay = 0.3, 9*time.Second
		rig := testbed.MustRig(t, world, false)
		cfg := rig.Config()
		rig.MustCrawl(t, cfg, rig.FS)
		p := auditPoliteness(t, rig.FS)
		pairs := 0
		for _, list := range askedOf(rig.Log, func(a *arrivals.Arrival) string { return a.Site }) {
			pairs += len(list) - 1
		}
		kept := p.agrees(t, rig.Log)
		if p.Verdict != gaps.Kept || pairs < 50 || kept != pairs || p.Exchanges != int64(rig.Log.Len()) {
			var out strings.Builder
			p.Print(&out)
			t.Errorf("%d of %d gaps, %d exchanges of %d\n%s", kept, pairs, p.Exchanges, rig.Log.Len(), out.String())
		}
		if p.Sites.Least < 4 || p.Addresses.Least < 0.5 || p.Sites.Percentiles.P99 < 8.9 {
			t.Errorf("%g and %g at least, %+v", p.Sites.Least, p.Addresses.Least, p.Sites.Percentiles)
		}
	})
}

// On a web of faults, with stops on the way, nothing that the archive is said to prove is untrue: no other request
// came between. What the archive cannot prove is not counted as kept.
func TestPoliteness_whatTheArchiveDoesNotHoldIsNotProved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(*testbed.FirstSeed+7100, simweb.Faulty())
		world.Timing.HugeBytes, world.Timing.RetryAfter = 256<<10, 20*time.Second
		rig := testbed.MustRig(t, world, false)
		cfg := rig.Config()
		for range 2 {
			ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
			if _, err := rig.Crawl(ctx, cfg, rig.FS); err != nil {
				t.Fatal(err)
			}
			cancel()
		}
		rig.MustCrawl(t, cfg, rig.FS)
		p := auditPoliteness(t, rig.FS)
		p.agrees(t, rig.Log)
		if p.Verdict != gaps.NotProved || p.Sites.Kept < 20 || p.Sites.NotProvable == 0 || p.Sites.Unrecorded == 0 ||
			p.Sites.Reasons[gaps.FirstOfRun] == 0 {
			var out strings.Builder
			p.Print(&out)
			t.Error(out.String())
		}
	})
}

// A politeness bug: an answer does not start the delay. The web sees it, and so does the audit.
func TestPoliteness_aCrawlerThatDoesNotWaitIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+7000, simweb.Plain()), false)
		cfg := rig.Config()
		cfg.Politeness.Table[outcome.OK].Contact = false
		rig.MustCrawl(t, cfg, rig.FS)
		p := auditPoliteness(t, rig.FS)
		v := rig.MustJudge(t, testbed.Promise(cfg), rig.FS)
		if v.HostGapViolations == 0 || p.Sites.Violated == 0 || p.Verdict != gaps.Violated {
			t.Errorf("the web saw %d gaps that are too short, the audit %d", v.HostGapViolations, p.Sites.Violated)
		}
	})
}

// One date in the archive is changed, so that its request seems to come three seconds sooner. The audit finds this
// request alone, and names both records.
func TestPoliteness_oneBrokenGapIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(*testbed.FirstSeed+7000, simweb.Plain())
		world.IPs = 200 // each host has its own
		rig := testbed.MustRig(t, world, false)
		cfg := rig.Config()
		cfg.Archive.Compression = warc.None
		rig.MustCrawl(t, cfg, rig.FS)
		before := auditPoliteness(t, rig.FS)
		if before.Verdict != gaps.Kept {
			t.Fatalf("%s before", before.Verdict)
		}
		n := slices.IndexFunc(before.judged, func(j gaps.Judgement) bool { // the last one of its site
			hasNext := slices.ContainsFunc(before.judged, func(next gaps.Judgement) bool {
				return !next.ByAddress && next.Earlier == j.Later
			})
			return !j.ByAddress && !hasNext && j.Gap < 5*time.Second
		})
		broken := before.judged[n]
		later := before.records[broken.Later]
		text := vfstest.ReadAll(t, rig.FS, broken.Later.File)
		const layout = "2006-01-02T15:04:05.000000Z"
		head := text[broken.Later.Offset:]
		at := bytes.Index(head, []byte(later.date.Format(layout)))
		copy(head[at:], later.date.Add(-3*time.Second).Format(layout))
		vfstest.WriteAll(t, rig.FS, broken.Later.File, text)

		after := auditPoliteness(t, rig.FS)
		if after.Verdict != gaps.Violated || after.Sites.Violated != 1 {
			t.Fatalf("%s, %d violated", after.Verdict, after.Sites.Violated)
		}
		w := after.Sites.Worst[0]
		if w.Later.URL != later.url || w.Earlier.URL != before.records[broken.Earlier].url || w.Later.Offset !=
			broken.Later.Offset || w.Seconds > 2 {
			t.Errorf("%+v", w)
		}
	})
}

// A run that continues a file with other delays is judged by its own delays, and so is what follows a change while it
// runs.
func TestPoliteness_eachExchangeIsJudgedByItsDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(*testbed.FirstSeed+7200, simweb.Plain())
		rig := testbed.MustRig(t, world, false)
		cfg := rig.Config()
		cfg.Politeness.HostDelay = 9 * time.Second
		disk, _ := testbed.Kill(t, rig, cfg, rig.FS, 45*time.Second, testbed.Sigkill) // its file is continued
		slow := auditPoliteness(t, disk)
		cfg.Politeness.HostDelay = 2 * time.Second
		e, err := engine.Open(cfg, rig.Seams(disk))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- e.Run(t.Context()) }()
		testbed.Wait(20 * time.Second)
		set(t, e, "host-delay", "3s")
		testbed.WaitEnd(t, rig, e, done)

		p := auditPoliteness(t, disk)
		required := map[time.Duration]int{}
		for _, j := range p.judged {
			if !j.ByAddress && j.Verdict == gaps.Kept {
				required[j.Required]++
			}
		}
		if slow.Sites.Least < 9 || p.Files != 1 || p.Sites.Violated+p.Addresses.Violated > 0 {
			t.Errorf("%d files, %d and %d violated, at least %g s before", p.Files, p.Sites.Violated, p.Addresses.Violated,
				slow.Sites.Least)
		}
		for _, d := range []time.Duration{9 * time.Second, 2 * time.Second, 3 * time.Second} {
			if required[d] < 5 {
				t.Errorf("%d gaps were judged by %v: %v", required[d], d, required)
			}
		}
	})
}

// Hosts of a group are judged together, by the delay of the group.
func TestPoliteness_aGroupOfHostsIsJudgedByItsDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, rulesWorld(t), false)
		cfg := rig.Config()
		hosts := hostsBySize(rig)
		cfg.Filters.HostRules = rulesOf(t, "group farm: "+hosts[0]+" "+hosts[1]+" delay=6s")
		rig.MustCrawl(t, cfg, rig.FS)
		p := auditPoliteness(t, rig.FS)
		byGroup := 0
		for _, j := range p.judged {
			if j.ByAddress && j.Verdict == gaps.Kept && j.Required == 6*time.Second {
				byGroup++
			}
		}
		if p.Sites.Violated+p.Addresses.Violated > 0 || byGroup < 20 {
			p.Print(t.Output())
			t.Errorf("%d gaps were judged by the delay of the group", byGroup)
		}
	})
}
