package gaps

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

// story is an archive, told record by record. Times are seconds after its begin.
type story struct {
	text strings.Builder
	n    int
}

// begins is a story whose files state the usual delays.
func begins(more ...string) *story {
	s := new(story)
	return s.info(append([]string{"host-delay: 4s", "ip-delay: 500ms", "crawl-delay-max: 5m", "retry-after-max: 24h"},
		more...)...)
}

func (s *story) info(lines ...string) *story {
	block := strings.Join(lines, "\r\n") + "\r\n"
	return s.add("warcinfo", "", "2026-11-25T00:00:00.000000Z", "", "application/warc-fields", block)
}

func (s *story) add(kind, url, date, fields, media, block string) *story {
	s.n++
	fmt.Fprintf(&s.text, "WARC/1.1\r\nWARC-Type: %s\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\n",
		kind, s.n)
	if url != "" {
		fmt.Fprintf(&s.text, "WARC-Target-URI: %s\r\n", url)
	}
	fmt.Fprintf(&s.text, "WARC-Date: %s\r\n%sContent-Type: %s\r\n", date, fields, media)
	fmt.Fprintf(&s.text, "Content-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
	return s
}

// dateAt is a WARC-Date so many seconds after the begin.
func dateAt(at float64) string {
	begin := time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	return begin.Add(time.Duration(at * 1e9)).Format("2006-01-02T15:04:05.000000Z")
}

// response is an exchange with a server. field is what Orbweaver-Exchange says, "" for no field.
func (s *story) response(at float64, url, ip, field string, status int, head, body string) *story {
	fields := ""
	if ip != "" {
		fields += "WARC-IP-Address: " + ip + "\r\n"
	}
	if field != "" {
		fields += "Orbweaver-Exchange: " + field + "\r\n"
	}
	return s.add("response", url, dateAt(at), fields, "application/http;msgtype=response",
		fmt.Sprintf("HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n%s", status, head, len(body), body))
}

// page is an exchange of one second with the usual server.
func (s *story) page(at float64, url, field string) *story {
	return s.response(at, url, "192.0.2.1", field, 200, "", "x")
}

// robots is the exchange of a robots.txt, in one second.
func (s *story) robots(at float64, site, field, body string) *story {
	return s.response(at, site+"/robots.txt", "192.0.2.1", field, 200, "", body)
}

// fetchTime is a metadata record beside the last record.
func (s *story) fetchTime(ms int) *story {
	id := fmt.Sprintf("WARC-Concurrent-To: <urn:uuid:00000000-0000-4000-8000-%012d>\r\n", s.n)
	block := fmt.Sprintf("fetchTimeMs: %d\r\n", ms)
	return s.add("metadata", "http://a.test/", dateAt(0), id, "application/warc-fields", block)
}

// written writes stories as archives of crawl directories d0, d1 and so on.
func written(t *testing.T, all ...*story) (vfs.FS, []string) {
	t.Helper()
	fsys := vfs.NewMem(1)
	var dirs []string
	for i, s := range all {
		dir := fmt.Sprintf("d%d", i)
		dirs = append(dirs, dir)
		if err := fsys.MkdirAll(dir + "/warc"); err != nil {
			t.Fatal(err)
		}
		vfstest.WriteAll(t, fsys, dir+"/warc/a.warc", []byte(s.text.String()))
	}
	return fsys, dirs
}

// audited is the report of an audit.
func audited(t *testing.T, o Options, all ...*story) *Report {
	t.Helper()
	fsys, dirs := written(t, all...)
	r, err := Audit(t.Context(), fsys, dirs, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shape is what a report says in short: of sites, and of addresses.
func shape(g *Gaps) string {
	text := fmt.Sprintf("%d kept, %d violated", g.Kept, g.Violated)
	for _, why := range []Reason{NoDuration, NoDelay, NoCrawlDelay, Unrecorded, FirstOfRun, NotStated, Imprecise} {
		if n := g.Reasons[why]; n > 0 {
			text += fmt.Sprintf(", %d %s", n, why)
		}
	}
	if len(g.Worst) > 0 && g.Worst[0].Violated {
		text += " by " + string(g.Worst[0].Rule)
	}
	return text
}

const (
	first = "took=1"
	later = "took=1 idle=4 ip-idle=4"
)

// What the archive of one site proves.
func TestAudit_theGapsOfOneSite(t *testing.T) {
	const a = "http://a.test"
	for what, c := range map[string]struct {
		s     *story
		o     Options
		sites string
	}{
		"four seconds after the end": {begins().page(0, a+"/", first).page(5, a+"/1", later), Options{},
			"1 kept, 0 violated"},
		"less than a tolerance sooner": {begins().page(0, a+"/", first).page(4.9995, a+"/1", later), Options{},
			"1 kept, 0 violated"},
		"sooner": {begins().page(0, a+"/", first).page(4.9, a+"/1", "took=1 idle=3.9"), Options{},
			"0 kept, 1 violated by host-delay"},
		"two at a time": {begins().page(0, a+"/", "took=9").page(5, a+"/1", later), Options{},
			"0 kept, 1 violated by one-at-a-time"},
		"a long one before the last one": {begins().page(0, a+"/", "took=20").page(1, a+"/1", later).page(15, a+"/2",
			"took=1 idle=13"), Options{}, "0 kept, 2 violated by one-at-a-time"},

		"no duration": {begins().page(0, a+"/", "idle=4").page(9, a+"/1", "idle=8"), Options{RecordedOnly: true},
			"0 kept, 0 violated, 1 no-duration"},
		"no duration, and the starts are too close": {begins().page(0, a+"/", "").page(3, a+"/1", ""), Options{},
			"0 kept, 1 violated by host-delay"},
		"durations in metadata records": {begins().page(0, a+"/", "").fetchTime(1000).page(5.1, a+"/1", "").fetchTime(1),
			Options{}, "0 kept, 0 violated, 1 not-stated"},
		"durations in metadata records, only what is recorded": {begins().page(0, a+"/", "").fetchTime(1000).
			page(5.1, a+"/1", "").fetchTime(1), Options{RecordedOnly: true}, "1 kept, 0 violated"},
		"no delay stated": {new(story).info("software: other/1").page(0, a+"/", first).page(5, a+"/1", later), Options{},
			"0 kept, 0 violated, 1 no-delay"},
		"no delay stated but given": {new(story).page(0, a+"/", first).page(5, a+"/1", later),
			Options{Stated: Delays{Host: 6 * time.Second}}, "0 kept, 1 violated by host-delay"},
		"a shorter delay of a host rule": {begins().page(0, a+"/", "took=1 host-delay=0.25").page(1.25, a+"/1",
			"took=1 idle=0.25 host-delay=0.25"), Options{}, "1 kept, 0 violated"},
		"a longer delay of a host rule": {begins().page(0, a+"/", "took=1 host-delay=9").page(5, a+"/1", later), Options{},
			"0 kept, 1 violated by host-delay"},

		"a request without a record between": {begins().page(0, a+"/", first).page(20, a+"/1", later), Options{},
			"1 kept, 0 violated, 1 request-not-recorded"},
		"a request without a record too early": {begins().page(0, a+"/", first).page(7, a+"/1", "took=1 idle=4"), Options{},
			"1 kept, 1 violated by host-delay"},
		"a request without a record before all": {begins().page(0, a+"/", later), Options{}, "1 kept, 0 violated"},
		"a request without a record is left aside": {begins().page(0, a+"/", first).page(20, a+"/1", later),
			Options{RecordedOnly: true}, "1 kept, 0 violated"},
		"after a restart": {begins().page(0, a+"/", first).page(60, a+"/1", first), Options{},
			"0 kept, 0 violated, 1 first-of-run"},
		"after a restart, too early": {begins().page(0, a+"/", first).page(3, a+"/1", first), Options{},
			"0 kept, 1 violated by host-delay"},

		"Crawl-delay": {begins().robots(0, a, first, "User-agent: orbweaver\nCrawl-delay: 10\n").page(11, a+"/1",
			"took=1 idle=10"), Options{}, "1 kept, 0 violated"},
		"Crawl-delay is not kept": {begins().robots(0, a, first, "User-agent: *\nCrawl-delay: 10\n").page(5, a+"/1",
			later), Options{}, "0 kept, 1 violated by crawl-delay"},
		"Crawl-delay for another agent": {begins().robots(0, a, first, "User-agent: other\nCrawl-delay: 10\n").
			page(5, a+"/1", later), Options{}, "1 kept, 0 violated"},
		"Crawl-delay beyond the limit": {begins().robots(0, a, first, "User-agent: *\nCrawl-delay: 3600\n").
			page(301, a+"/1", "took=1 idle=300"), Options{}, "1 kept, 0 violated"},
		"Crawl-delay until robots.txt is gone": {begins().robots(0, a, first, "User-agent: *\nCrawl-delay: 10\n").
			response(11, a+"/robots.txt", "192.0.2.1", "took=1 idle=10", 404, "", "").page(16, a+"/1", later), Options{},
			"2 kept, 0 violated"},
		"Crawl-delay while robots.txt fails": {begins().robots(0, a, first, "User-agent: *\nCrawl-delay: 10\n").
			response(11, a+"/robots.txt", "192.0.2.1", "took=1 idle=10", 500, "", "").page(16, a+"/1", later), Options{},
			"1 kept, 1 violated by crawl-delay"},
		"Retry-After": {begins().response(0, a+"/", "192.0.2.1", first, 503, "Retry-After: 60\r\n", "").page(61, a+"/1",
			"took=1 idle=60"), Options{}, "1 kept, 0 violated"},
		"Retry-After is not kept": {begins().response(0, a+"/", "192.0.2.1", first, 429, "Retry-After: 60\r\n", "").
			page(31, a+"/1", "took=1 idle=30"), Options{}, "0 kept, 1 violated by retry-after"},
		"a day for one page": {begins().response(0, a+"/one", "192.0.2.1", first, 503, "Retry-After: 86400\r\n", "").
			page(31, a+"/1", "took=1 idle=30"), Options{}, "1 kept, 0 violated"},
		"a day for the root page": {begins().response(0, a+"/", "192.0.2.1", first, 503, "Retry-After: 86400\r\n", "").
			page(31, a+"/1", "took=1 idle=30"), Options{}, "0 kept, 1 violated by retry-after"},
		"Retry-After with a page": {begins().response(0, a+"/", "192.0.2.1", first, 200, "Retry-After: 60\r\n", "").
			page(31, a+"/1", "took=1 idle=30"), Options{}, "1 kept, 0 violated"},
	} {
		t.Run(what, func(t *testing.T) {
			if got := shape(&audited(t, c.o, c.s).Sites); got != c.sites {
				t.Errorf("%s, want %s", got, c.sites)
			}
		})
	}
}

// A robots.txt that redirects has the Crawl-delay of what it leads to.
func TestAudit_theCrawlDelayOfARedirectedRobots(t *testing.T) {
	redirected := func() *story {
		return begins().response(0, "http://a.test/robots.txt", "192.0.2.1", first, 301,
			"Location: http://b.test/rules\r\n", "")
	}
	led := func(at float64) *story {
		return redirected().response(2, "http://b.test/rules", "192.0.2.2", first, 200, "",
			"User-agent: *\nCrawl-delay: 10\n").page(at, "http://a.test/", fmt.Sprintf("took=1 idle=%g", at-1))
	}
	for what, c := range map[string]struct {
		s    *story
		want string
	}{
		"kept":           {led(14), "1 kept, 0 violated"},
		"not kept":       {led(6), "0 kept, 1 violated by crawl-delay"},
		"not found":      {redirected().page(5, "http://a.test/", later), "0 kept, 0 violated, 1 redirected-robots"},
		"long enough":    {redirected().page(301, "http://a.test/", "took=1 idle=300"), "1 kept, 0 violated"},
		"also too short": {redirected().page(4, "http://a.test/", "took=1 idle=3"), "0 kept, 1 violated by host-delay"},
	} {
		if got := shape(&audited(t, Options{}, c.s).Sites); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
	}
}

// Sites of one address share its delay, and so do the addresses of one IPv6 network.
func TestAudit_theGapsOfAnAddress(t *testing.T) {
	two := func(second float64, ip, other, field string) *story {
		return begins().response(0, "http://a.test/", ip, first, 200, "", "").
			response(second, "http://b.test/", other, field, 200, "", "")
	}
	const half, less = "took=1 ip-idle=0.5", "took=1 ip-idle=0.3"
	for what, c := range map[string]struct {
		s    *story
		want string
	}{
		"half a second":    {two(1.5, "192.0.2.1", "192.0.2.1", half), "1 kept, 0 violated"},
		"less":             {two(1.3, "192.0.2.1", "192.0.2.1", less), "0 kept, 1 violated by ip-delay"},
		"two at a time":    {two(0.5, "192.0.2.1", "192.0.2.1", first), "0 kept, 1 violated by one-at-a-time"},
		"not stated":       {two(1.5, "192.0.2.1", "192.0.2.1", first), "0 kept, 0 violated, 1 not-stated"},
		"two addresses":    {two(0.5, "192.0.2.1", "192.0.2.2", first), "0 kept, 0 violated"},
		"one network":      {two(1.3, "2001:db8::1", "2001:db8::2:1", less), "0 kept, 1 violated by ip-delay"},
		"two networks":     {two(1.3, "2001:db8::1", "2001:db8:0:1::1", first), "0 kept, 0 violated"},
		"mapped and plain": {two(1.3, "::ffff:192.0.2.1", "192.0.2.1", less), "0 kept, 1 violated by ip-delay"},
		"no address":       {two(1.3, "", "", first), "0 kept, 0 violated"},
		"of a proxy": {begins("proxy: yes").page(0, "http://a.test/", first).page(0.1, "http://b.test/", less),
			"0 kept, 0 violated"},
		"a site that never answered came too early": {two(3, "192.0.2.1", "192.0.2.1", "took=1 ip-idle=1.7"),
			"1 kept, 1 violated by ip-delay"},
		"a site that never answered": {two(9, "192.0.2.1", "192.0.2.1", "took=1 ip-idle=4"),
			"1 kept, 0 violated, 1 request-not-recorded"},
		"a group of hosts whose earlier request has no record": {two(11, "192.0.2.1", "192.0.2.2",
			"took=1 group=farm ip-idle=10 ip-delay=10"), "1 kept, 0 violated"},
		"a group that is not left alone": {begins().response(0, "http://a.test/", "192.0.2.1",
			"took=1 group=farm ip-delay=10", 200, "", "").response(5, "http://b.test/", "192.0.2.2",
			"took=1 group=farm ip-idle=4 ip-delay=10", 200, "", ""), "0 kept, 1 violated by ip-delay"},
		"a shorter delay of this run": {begins().response(0, "http://a.test/", "192.0.2.1", "took=1 ip-delay=0.25", 200, "",
			"").response(1.3, "http://b.test/", "192.0.2.1", less, 200, "", ""), "1 kept, 0 violated"},
	} {
		r := audited(t, Options{}, c.s)
		if got := shape(&r.Addresses); got != c.want {
			t.Errorf("%s: %s, want %s", what, got, c.want)
		}
		if r.WithoutAddr > 0 && r.Verdict == Kept {
			t.Errorf("%s: without addresses the verdict is %s", what, r.Verdict)
		}
	}
}

// Dates of whole seconds, and the clocks of two machines, leave a doubt.
func TestAudit_whatTimesDoNotTell(t *testing.T) {
	whole := func(second string) *story {
		s := begins()
		for i, date := range []string{"2026-11-25T12:00:00Z", second} {
			s.add("response", fmt.Sprintf("http://a.test/%d", i), date, "Orbweaver-Exchange: took=1\r\n",
				"application/http;msgtype=response", "HTTP/1.1 200 OK\r\n\r\n")
		}
		return s
	}
	for second, want := range map[string]string{
		"2026-11-25T12:00:03Z": "0 kept, 1 violated by host-delay",
		"2026-11-25T12:00:05Z": "0 kept, 0 violated, 1 imprecise-time",
		"2026-11-25T12:00:06Z": "1 kept, 0 violated",
	} {
		if got := shape(&audited(t, Options{RecordedOnly: true}, whole(second)).Sites); got != want {
			t.Errorf("%s: %s, want %s", second, got, want)
		}
	}
	for second, want := range map[float64]string{
		3.9: "0 kept, 1 violated by host-delay", 5.5: "0 kept, 0 violated, 1 imprecise-time", 6.1: "1 kept, 0 violated",
	} {
		a, b := begins().page(0, "http://a.test/", first), begins().page(second, "http://a.test/1", "")
		if got := shape(&audited(t, Options{RecordedOnly: true}, a, b).Sites); got != want {
			t.Errorf("two clocks, %gs: %s, want %s", second, got, want)
		}
	}
}

// A violation names both records, and where they are.
func TestAudit_aViolationNamesItsRecords(t *testing.T) {
	s := begins().page(0, "http://a.test/", first).page(5, "http://a.test/1", later).
		page(8, "http://a.test/2", "took=1 idle=2").page(13, "http://a.test/3", later)
	r := audited(t, Options{}, s)
	if r.Verdict != Violated || len(r.Sites.Worst) != 1 || r.Sites.Offenders != 1 {
		t.Fatalf("%s, %+v", r.Verdict, r.Sites.Worst)
	}
	w := r.Sites.Worst[0]
	if w.Of != "http://a.test" || w.Count != 1 ||
		w.Seconds != 2 || w.Required != 4 || w.Earlier.URL != "http://a.test/1" ||
		w.Later.URL != "http://a.test/2" || !strings.HasSuffix(w.Earlier.ID, "000000000003") ||
		w.Later.File != "d0/warc/a.warc" || w.Later.Offset == 0 || w.Later.IP != "192.0.2.1" {
		t.Errorf("%+v", w)
	}
	var out strings.Builder
	r.Print(&out)
	for _, want := range []string{
		"VIOLATED: http://a.test waited 2.000000s; 4.000000s required (host-delay)", "http://a.test/2", "000000000004",
		"stated: host-delay 4.000s, ip-delay 0.500s",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}

// The records of a violation are named although nothing says how long the earlier request took.
func TestAudit_aViolationWithoutDurationsIsNamed(t *testing.T) {
	var out strings.Builder
	audited(t, Options{}, begins().page(0, "http://a.test/", "").page(3, "http://a.test/1", "")).Print(&out)
	if !strings.Contains(out.String(), "VIOLATED: http://a.test waited 3.000000s; 4.000000s required (host-delay)") {
		t.Error(out.String())
	}
}

// An archive that proves all of it says so.
func TestAudit_theVerdicts(t *testing.T) {
	kept := func() *story { return begins().page(0, "http://a.test/", first).page(5, "http://a.test/1", later) }
	for want, s := range map[Verdict]*story{
		Kept: kept(), Violated: kept().page(7, "http://a.test/2", "took=1 idle=1"),
		NotProved: kept().page(60, "http://a.test/2", first),
	} {
		if r := audited(t, Options{}, s); r.Verdict != want {
			t.Errorf("%s, want %s: %s; %s", r.Verdict, want, shape(&r.Sites), shape(&r.Addresses))
		}
	}
	damaged := kept()
	damaged.text.WriteString("WARC/1.1\r\nWARC-Type: response\r\nContent-Length: 10\r\n\r\nshort")
	if r := audited(t, Options{}, damaged); r.Verdict != NotProved || r.DamagedPlaces != 1 || r.Sites.Kept != 1 {
		t.Errorf("damaged: %s, %d places", r.Verdict, r.DamagedPlaces)
	}
}

// Many exchanges in little memory give the same report as in much.
func TestAudit_listsOnDiskGiveTheSameReport(t *testing.T) {
	s := begins()
	for i := range 3000 {
		s.page(float64(i)*0.01, fmt.Sprintf("http://%d.test/%d", i%500, i), "took=0.001 idle=4.999")
	}
	small, large := audited(t, Options{MemoryBytes: 64 << 10}, s), audited(t, Options{}, s)
	if a, b := fmt.Sprintf("%+v", small), fmt.Sprintf("%+v", large); a != b {
		t.Error("the reports differ")
	}
	if small.Exchanges != 3000 || small.Sites.Kept != 3000 || small.Sites.Keys != 500 {
		t.Errorf("%d exchanges, %s of %d sites", small.Exchanges, shape(&small.Sites), small.Sites.Keys)
	}
}

// The memory of an audit does not grow with the number of exchanges: their lists are on disk, in as many pieces as 10^8
// exchanges have with the usual memory.
func TestAudit_memoryDoesNotGrowWithTheArchive(t *testing.T) {
	peak := func(exchanges int) (most uint64) {
		s := begins()
		fsys, dirs := written(t, s)
		o := Options{MemoryBytes: 64 << 10, Temp: vfs.Disk(), TempDir: t.TempDir()}.WithDefaults()
		sorter, err := extsort.New(o.Temp, extsort.Options{File: o.TempDir + "/sites", MemoryBytes: o.MemoryBytes})
		if err != nil {
			t.Fatal(err)
		}
		o.Progress = func(Progress) {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapAlloc)
		}
		a := &auditor{ctx: t.Context(), fsys: fsys, o: o, report: newReport(), sorters: []*extsort.Sorter{sorter}}
		a.bySite.sorter = sorter
		a.files, a.dirs = []input{{name: dirs[0] + "/warc/a.warc", size: int64(s.text.Len())}}, dirs
		a.eras.number(era{delays: Unstated()})
		for i := range exchanges {
			x := newExchange(int64(i) * 1000)
			x.took, x.idle, x.host, x.flags = 500, 4_000_000, 4_000_000, hasField
			if err := a.bySite.add(uint64(i*7919%(exchanges/4)), &x); err != nil {
				t.Fatal(err)
			}
		}
		runtime.GC()
		if err := errors.Join(a.judgeSites(), a.close()); err != nil {
			t.Fatal(err)
		}
		if g := &a.report.Sites; g.Gaps < int64(exchanges)/2 {
			t.Errorf("%d exchanges: %d gaps are judged", exchanges, g.Gaps)
		}
		return most
	}
	few, many := peak(20_000), peak(400_000)
	t.Logf("%d bytes of heap for 20,000 exchanges, %d for 400,000", few, many)
	if many > few+8<<20 {
		t.Errorf("%d bytes of heap for 20,000 exchanges, %d for 400,000", few, many)
	}
}

// Percentiles are right within three per cent, the ends exactly.
func TestDistribution_percentiles(t *testing.T) {
	d := distribution{ends: usualEnds(), ranges: make([]int64, len(usualEnds())+1)}
	for i := int64(1); i <= 100_000; i++ {
		d.observe(i * 37)
	}
	for part, want := range map[float64]int64{0.01: 37_000, 0.5: 1_850_000, 0.99: 3_663_000} {
		if got := d.percentile(part); got < want || float64(got) > float64(want)*1.032 {
			t.Errorf("%g: %d, want %d", part, got, want)
		}
	}
	if d.least != 37 || d.most != 3_700_000 || d.percentile(1) != d.most {
		t.Errorf("%d to %d", d.least, d.most)
	}
	sum := int64(0)
	for _, r := range d.histogram() {
		sum += r.Count
	}
	if sum != 100_000 {
		t.Errorf("%d in the histogram", sum)
	}
}

// Nothing that is printed of a crawl that kept its delay looks like a gap below it: a request without a record has no
// known start, and the delay that was in force is an edge of the histogram.
func TestPrint_aKeptDelayHasNothingBelowIt(t *testing.T) {
	s := new(story).info("host-delay: 3s", "ip-delay: 500ms", "crawl-delay-max: 5m", "retry-after-max: 24h")
	s.page(0, "http://a.test/1", "took=1")
	// At 4.0000 s a request is refused within 100 us. It has no record.
	s.page(7.0002, "http://a.test/2", "took=1 idle=3")
	s.page(11.0002, "http://a.test/3", "took=1 idle=3")
	r := audited(t, Options{}, s)
	if r.Sites.Violated != 0 || r.Sites.Least < 3 || r.Sites.Unrecorded != 1 || r.Sites.Measured != 2 {
		t.Errorf("%+v", r.Sites)
	}
	hasEdge := false
	for _, one := range r.Sites.Histogram {
		hasEdge = hasEdge || one.Below == 3
		if one.Below > 0 && one.Below <= 3 && one.Count > 0 {
			t.Errorf("%d gaps below %v s", one.Count, one.Below)
		}
	}
	var text strings.Builder
	if r.Print(&text); !hasEdge || !strings.Contains(text.String(), "least 3.000s") {
		t.Errorf("an edge at the delay: %v\n%s", hasEdge, &text)
	}
}

// A crawl through a proxy proves the gaps of sites, and says why not those of addresses.
func TestPrint_aProxyIsNoFault(t *testing.T) {
	s := begins("proxy: yes")
	for i, at := range []float64{0, 5.5, 11} {
		field := map[bool]string{true: first, false: "took=1 idle=4.5"}[i == 0]
		s.response(at, fmt.Sprintf("http://a.test/%d", i), "", field, 200, "", "x")
	}
	r := audited(t, Options{}, s)
	var text strings.Builder
	r.Print(&text)
	const want = "KEPT for sites: no gap of a site is shorter than its delay. NOT PROVED for addresses: the proxy"
	if r.Verdict != NotProved || !strings.Contains(text.String(), want) {
		t.Errorf("%s:\n%s", r.Verdict, &text)
	}
}
