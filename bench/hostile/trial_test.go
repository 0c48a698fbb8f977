package hostile

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/outcome"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// trial is a crawl of a case and of a small honest web beside it, in virtual time, that has ended.
type trial struct {
	*testing.T
	report  report.Report
	cfg     engine.Config
	disk    *vfs.Mem
	began   time.Time
	lines   []line
	records map[string][]*warc.RecordRead // responses, revisits and resources with their blocks, by URL
	said    string                        // by the engine, in its log
	honest  *report.Report                // see alone
}

// line is one attempt in crawl.log.
type line struct {
	url     string
	way     string        // L for each link, R for each redirect, - for a seed
	at      time.Time     // its end
	took    time.Duration // of the request, 0 if there was none
	outcome string
	note    string // what stands behind the outcome: "retry", if it was tried again
}

// alone is the report of a crawl of the honest web alone: it has some links, too, that lead nowhere.
func (tr *trial) alone() *report.Report {
	tr.Helper()
	if tr.honest == nil {
		rig, err := testbed.NewRig(honest(), false)
		if err != nil {
			tr.Fatal(err)
		}
		report, err := rig.Crawl(tr.Context(), rig.Config(), rig.FS)
		if err = errors.Join(err, rig.Net.Close()); err != nil {
			tr.Fatal(err)
		}
		tr.honest = &report
	}
	return tr.honest
}

// dropped is how many links of the case were dropped for a reason.
func (tr *trial) dropped(reason string) int64 {
	tr.Helper()
	return tr.report.Dropped[reason] - tr.alone().Dropped[reason]
}

// bodyMax is how much of a body the crawl keeps. A case that has no end reaches it soon.
const bodyMax = 2 << 20

// honest is a small web without faults.
func honest() simweb.Config {
	world := simweb.Plain()
	world.Hosts, world.IPs, world.PagesPerHostMean, world.PagesPerHostMax, world.PageBytesMean = 12, 8, 5, 10, 2000
	return world
}

// play crawls a case with the usual settings, which change, if not nil, changes, and hands the trial to check. What
// every crawl must do is checked before: the honest web is there whole and once, every host was treated politely,
// counts balance, nothing panicked, the archive verifies and the directory is sound.
func play(t *testing.T, id string, change func(*engine.Config), check func(*trial)) {
	t.Helper()
	playOn(t, id, func(*testbed.Rig) error { return nil }, change, check)
}

// playSecure is play with TLS on port 443.
func playSecure(t *testing.T, id string, change func(*engine.Config), check func(*trial)) {
	t.Helper()
	playOn(t, id, (*testbed.Rig).Secure, change, check)
}

func playOn(
	t *testing.T,
	id string,
	prepare func(*testbed.Rig) error,
	change func(*engine.Config),
	check func(*trial),
) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rig, err := testbed.NewRig(honest(), false)
		if err != nil {
			t.Fatal(err)
		}
		web, err := New(id)
		if err != nil {
			t.Fatal(err)
		}
		rig.World.Invite(web)
		if err := prepare(rig); err != nil {
			t.Fatal(err)
		}
		cfg := rig.Config()
		cfg.Seeds = testbed.Seeds(append(web.Seeds(1), rig.Seeds...))
		cfg.Archive.Metadata = parsers.MetadataAll
		cfg.Fetch.BodyMax = bodyMax
		if change != nil {
			change(&cfg)
		}
		tr := &trial{T: t, cfg: cfg, disk: rig.FS, began: time.Now(), records: map[string][]*warc.RecordRead{}}
		if tr.report, err = rig.Crawl(t.Context(), cfg, rig.FS); err != nil {
			t.Fatal(err)
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		tr.said = rig.EngineLog.String()
		tr.read()
		tr.owed(rig)
		check(tr)
	})
}

// read takes log and archive in.
func (tr *trial) read() {
	b, err := vfs.ReadFile(tr.disk, "crawl/logs/crawl.log")
	if err != nil {
		tr.Fatal(err)
	}
	for s := range strings.Lines(string(b)) {
		f := strings.Fields(s)
		if len(f) < 12 {
			tr.Fatalf("crawl.log: %q", s)
		}
		l := line{url: f[3], way: f[4]}
		if l.at, err = time.Parse("2006-01-02T15:04:05.000Z", f[0]); err != nil {
			tr.Fatal(err)
		}
		if _, ms, ok := strings.Cut(f[8], "+"); ok {
			if l.took, err = time.ParseDuration(ms + "ms"); err != nil {
				tr.Fatal(err)
			}
		}
		l.outcome, l.note, _ = strings.Cut(f[11], ",")
		tr.lines = append(tr.lines, l)
	}
	err = captures.Records(tr.disk, "crawl/warc", func(rec *warc.RecordRead) error {
		if rec.Type != warc.Response && rec.Type != warc.Revisit && rec.Type != warc.Resource || rec.IsDNS() {
			return nil
		}
		if _, err := rec.ReadBlock(1 << 26); err != nil {
			return err
		}
		tr.records[string(rec.TargetURI)] = append(tr.records[string(rec.TargetURI)], rec)
		return nil
	})
	if err != nil {
		tr.Fatal(err)
	}
}

// owed checks what every crawl owes.
func (tr *trial) owed(rig *testbed.Rig) {
	v, err := rig.Judge(judge.Promise{HostDelay: tr.cfg.Politeness.HostDelay, IPDelay: tr.cfg.Politeness.IPDelay,
		Contact: "https://example.org/bot"}, tr.disk)
	if err != nil {
		tr.Fatal(err)
	}
	if !v.Sound() {
		v.Print(tr.Output())
		tr.Errorf("the verdict is not sound; outcomes %v", tr.report.Outcomes)
	}
	if tr.report.ParseFaults > 0 {
		tr.Errorf("%d pages panicked the parser", tr.report.ParseFaults)
	}
	sum := tr.report.URLsQueued + tr.report.URLsInFlight
	for _, n := range tr.report.Outcomes {
		sum += n
	}
	if tr.report.URLsAdmitted != sum {
		tr.Errorf("counts do not balance: %d admitted, %d outcomes, queued and in flight", tr.report.URLsAdmitted, sum)
	}
	found, err := fsck.Check(tr.Context(), tr.disk, "crawl", fsck.Options{})
	if err != nil {
		tr.Fatal(err)
	}
	if !found.Sound() {
		found.Print(tr.Output())
		tr.Error("the directory is not sound")
	}
}

// attempts are the lines of a URL.
func (tr *trial) attempts(url string) (all []line) {
	for _, l := range tr.lines {
		if l.url == url {
			all = append(all, l)
		}
	}
	return all
}

// wants says that every attempt at a URL, and there was one, had an outcome, and gives them.
func (tr *trial) wants(url string, o outcome.Outcome) []line {
	tr.Helper()
	all := tr.attempts(url)
	if len(all) == 0 {
		tr.Fatalf("%s was never tried", url)
	}
	for _, l := range all {
		if l.outcome != o.String() {
			tr.Errorf("%s: outcome %s, want %v", url, l.outcome, o)
		}
	}
	return all
}

// wantsWithin is wants of attempts that each took at most so long.
func (tr *trial) wantsWithin(url string, o outcome.Outcome, most time.Duration) {
	tr.Helper()
	for _, l := range tr.wants(url, o) {
		if l.took > most {
			tr.Errorf("%s: an attempt took %v, want at most %v", url, l.took, most)
		}
	}
}

// record is the last record of a URL, one of each attempt that had an answer. All must say that they were cut for this
// reason, "" for not at all.
func (tr *trial) record(url, truncated string) *warc.RecordRead {
	tr.Helper()
	recs := tr.records[url]
	if len(recs) == 0 {
		tr.Fatalf("of %s nothing is stored", url)
	}
	for _, rec := range recs {
		if got := rec.Get("WARC-Truncated"); got != truncated {
			tr.Errorf("%s: WARC-Truncated %q, want %q", url, got, truncated)
		}
	}
	return recs[len(recs)-1]
}
