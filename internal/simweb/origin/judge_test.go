package origin

import (
	"bytes"
	"crypto/sha1"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/judge"
)

const testAgent = "orbweaver/0 (+mailto:a@b.test)"

// story builds a log by hand, a second between exchanges of 10 ms.
type story struct {
	t   *testing.T
	log *arrivals.Log
	at  time.Time
}

func newStory(t *testing.T, w *Web) *story {
	s := &story{t: t, log: w.NewLog(), at: time.Unix(1000, 0)}
	s.log.Connect(s.at)
	return s
}

// ask notes a request after the gap, and its whole answer.
func (s *story) ask(url string, gap time.Duration, status int, flags uint8) {
	s.at = s.at.Add(gap)
	a := arrivals.Entry{Start: s.at, End: s.at.Add(10 * time.Millisecond), Conn: 1, Target: s.log.TargetOf(url), URL: url,
		Status: status, Agent: []byte(testAgent), Flags: flags}
	s.at = a.End
	s.log.Add(&a)
}

func (s *story) whole(urls ...string) {
	for _, u := range urls {
		s.ask(u, time.Second, 200, arrivals.FlagWhole)
	}
}

// judgeWorld has one host without faults, and no robots.txt.
func judgeWorld(t *testing.T) (*Web, []string) {
	c := simweb.Plain()
	c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax, c.OtherShare = 1, 1, 5, 5, 0
	c.Robots = simweb.Robots{}
	w := testWorld(t, c)
	var pages []string
	for u := range w.Expected(judge.ExpectOptions{Seeds: w.Seeds(1)}).All() {
		pages = append(pages, u)
	}
	slices.Sort(pages)
	if len(pages) < 3 {
		t.Fatalf("only %d pages", len(pages))
	}
	return w, pages
}

// archiveOf is a sound archive of these pages.
func archiveOf(t *testing.T, w *Web, pages []string) []judge.Capture {
	var all []judge.Capture
	for _, u := range pages {
		p, ok := w.Payload(u, false)
		if !ok {
			t.Fatalf("%s has no payload", u)
		}
		all = append(all, judge.Capture{URL: u, Status: 200, Digest: sha1.Sum(p), HasDigest: true})
	}
	return all
}

func judgePromise(w *Web) judge.Promise {
	return judge.Promise{HostDelay: 500 * time.Millisecond, IPDelay: 100 * time.Millisecond, Contact: "+mailto:a@b.test",
		Expect: judge.ExpectOptions{Seeds: w.Seeds(1)}}
}

// faultTest is a sound crawl with one fault.
type faultTest struct {
	name string
	tell func(s *story, archive []judge.Capture) []judge.Capture
	p    func(p *judge.Promise)
	want func(v *judge.Verdict)
}

func withoutFirst(_ *story, a []judge.Capture) []judge.Capture { return a[1:] }

func TestG3_JudgeFindsEachFault(t *testing.T) {
	w, pages := judgeWorld(t)
	robots := w.Root(0) + "robots.txt"
	promise := judgePromise(w)
	tests := []faultTest{
		{name: "sound", want: func(v *judge.Verdict) {}},
		{name: "gap", tell: func(s *story, a []judge.Capture) []judge.Capture {
			s.ask(robots, 200*time.Millisecond, 404, arrivals.FlagWhole)
			return a
		}, want: func(v *judge.Verdict) { v.HostGapViolations = 1 }},
		{name: "gap at the address", tell: func(s *story, a []judge.Capture) []judge.Capture {
			s.ask(robots, 50*time.Millisecond, 404, arrivals.FlagWhole)
			return a
		}, want: func(v *judge.Verdict) { v.HostGapViolations, v.IPGapViolations = 1, 1 }},
		{name: "at once", tell: func(s *story, a []judge.Capture) []judge.Capture {
			s.ask(robots, -5*time.Millisecond, 404, arrivals.FlagWhole)
			return a
		}, want: func(v *judge.Verdict) { v.HostConcurrency, v.IPConcurrency = 1, 1 }},
		{name: "repeated", tell: func(s *story, a []judge.Capture) []judge.Capture {
			s.whole(pages[1])
			return a
		}, want: func(v *judge.Verdict) { v.Repeated = 1 }},
		{name: "trap", tell: func(s *story, a []judge.Capture) []judge.Capture {
			s.whole(w.Root(0) + "trap/0/5")
			return a
		}, want: func(v *judge.Verdict) { v.Unexpected = 1 }},
		{name: "unknown path", tell: func(s *story, a []judge.Capture) []judge.Capture {
			s.ask(w.Root(0)+"what%20is", time.Second, 404, arrivals.FlagWhole)
			return a
		}, want: func(v *judge.Verdict) { v.Unexpected = 1 }},
		{name: "not stored", tell: withoutFirst, want: func(v *judge.Verdict) { v.Missing = 1 }},
		{
			name: "not stored, since it came after the limit",
			tell: func(s *story, a []judge.Capture) []judge.Capture { return a[2:] },
			p:    func(p *judge.Promise) { p.Partial, p.UnderWay = true, 1 },
			want: func(v *judge.Verdict) { v.Missing, v.Expected = 1, len(pages)-1 },
		},
		{name: "stored twice", tell: func(s *story, a []judge.Capture) []judge.Capture { return append(a, a[0]) },
			want: func(v *judge.Verdict) { v.Duplicates = 1 }},
		{name: "wrong digest", tell: func(s *story, a []judge.Capture) []judge.Capture {
			a[0].Digest[3]++
			return a
		}, want: func(v *judge.Verdict) { v.DigestMismatches = 1 }},
		{name: "cut without need", tell: func(s *story, a []judge.Capture) []judge.Capture {
			a[0].Truncated = true
			return a
		}, want: func(v *judge.Verdict) { v.DigestMismatches = 1 }},
		{name: "stranger stored", tell: func(s *story, a []judge.Capture) []judge.Capture {
			return append(a, judge.Capture{URL: "http://example.test/", Status: 200})
		}, want: func(v *judge.Verdict) { v.StoredUnknown = 1 }},
		{name: "nameless", p: func(p *judge.Promise) { p.Contact = "somebody else" },
			want: func(v *judge.Verdict) { v.Nameless = len(pages) + 1 }},
		{
			name: "quota",
			p:    func(p *judge.Promise) { p.MaxPerHost = 2 },
			want: func(v *judge.Verdict) { v.QuotaViolations = 1 },
		},
		{name: "retry after", tell: func(s *story, a []judge.Capture) []judge.Capture {
			s.ask(robots, time.Second, 503, arrivals.FlagWhole|arrivals.FlagRetryAfter)
			s.ask(robots, 900*time.Millisecond, 404, arrivals.FlagWhole)
			return a
		}, want: func(v *judge.Verdict) { v.RetryAfterViolations = 1 }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStory(t, w)
			s.ask(robots, time.Second, 404, arrivals.FlagWhole)
			s.whole(pages...)
			archive := archiveOf(t, w, pages)
			if test.tell != nil {
				archive = test.tell(s, archive)
			}
			p := promise
			if test.p != nil {
				test.p(&p)
			}
			checkVerdict(t, w.Judge(s.log, p, slices.Values(archive)), len(pages), test.want)
		})
	}
}

func TestG3_JudgeFindsPagesAskedForBeforeRobotsTxt(t *testing.T) {
	w, pages := judgeWorld(t)
	promise := judgePromise(w)
	s := newStory(t, w)
	s.whole(pages...)
	got := w.Judge(s.log, promise, slices.Values(archiveOf(t, w, pages)))
	checkVerdict(t, got, len(pages), func(v *judge.Verdict) { v.RobotsViolations = len(pages) })
	promise.Resumed = true
	got = w.Judge(s.log, promise, slices.Values(archiveOf(t, w, pages)))
	checkVerdict(t, got, len(pages), func(v *judge.Verdict) {})
}

// What two agents hold is overlap and no fault of either archive; what one holds twice is a fault, and what none holds
// is missing.
func TestG3_JudgeOfSeveralArchives(t *testing.T) {
	w, pages := judgeWorld(t)
	promise := judgePromise(w)
	s := newStory(t, w)
	s.ask(w.Root(0)+"robots.txt", time.Second, 404, arrivals.FlagWhole)
	s.whole(pages...)
	s.whole(pages[0])
	first := archiveOf(t, w, pages[:2])
	second := archiveOf(t, w, append(slices.Clone(pages[2:]), pages[0]))
	for i := range second {
		second[i].Archive = 1
	}
	all := slices.Concat(first, second)
	promise.Archives = 2
	got := w.Judge(s.log, promise, slices.Values(all))
	checkVerdict(t, got, len(pages), func(v *judge.Verdict) { v.Repeated = 1 })
	n := len(pages)
	if got.Held != n+1 || got.Stored != n || got.OverlapHeld != 1/float64(n) || got.Overlap != 1/float64(n) {
		t.Errorf(
			"%d held, %d different ones, overlap %v, and %v by the log",
			got.Held,
			got.Stored,
			got.OverlapHeld,
			got.Overlap,
		)
	}
	if want := []judge.Share{{Pages: 2, Hosts: 1}, {Pages: n - 1, Hosts: 1}}; !slices.Equal(got.Shares, want) {
		t.Errorf("shares %v, want %v", got.Shares, want)
	}
	promise.MaxPerHost = n // a page that two hold is one page of its site
	got = w.Judge(s.log, promise, slices.Values(all))
	checkVerdict(t, got, n, func(v *judge.Verdict) { v.Repeated = 1 })
	promise.MaxPerHost = 0

	got = w.Judge(s.log, promise, slices.Values(append(all, second[0])))
	checkVerdict(t, got, n, func(v *judge.Verdict) { v.Repeated, v.Duplicates = 1, 1 })
	got = w.Judge(s.log, promise, slices.Values(all[1:n]))
	checkVerdict(t, got, n, func(v *judge.Verdict) { v.Repeated, v.Missing = 1, 1 })
	second[len(second)-1].Digest[0]++ // the copy of a page is looked at, too
	got = w.Judge(s.log, promise, slices.Values(slices.Concat(first, second)))
	checkVerdict(t, got, n, func(v *judge.Verdict) { v.Repeated, v.DigestMismatches = 1, 1 })
}

// Two agents that are each polite, and together are not, are found out, and both are named.
func TestG3_JudgeNamesTheAgentsThatCameTogether(t *testing.T) {
	w, pages := judgeWorld(t)
	s := newStory(t, w)
	s.ask(w.Root(0)+"robots.txt", time.Second, 404, arrivals.FlagWhole)
	s.whole(pages...)
	ask := func(agent string) {
		s.at = s.at.Add(50 * time.Millisecond)
		a := arrivals.Entry{
			Start:  s.at,
			End:    s.at.Add(10 * time.Millisecond),
			Conn:   2,
			Target: s.log.TargetOf(w.Root(0) + "robots.txt"),
			Status: 404,
			Agent:  []byte(agent),
			Flags:  arrivals.FlagWhole,
		}
		s.at = a.End
		s.log.Add(&a)
	}
	ask(testAgent) // by itself, 50 ms after its own request
	ask("another (+mailto:a@b.test)")
	got := w.Judge(s.log, judgePromise(w), slices.Values(archiveOf(t, w, pages)))
	checkVerdict(t, got, len(pages), func(v *judge.Verdict) { v.HostGapViolations, v.IPGapViolations = 2, 2 })
	if got.BetweenAgents != 2 ||
		!strings.Contains(strings.Join(got.Examples, "\n"), `by "another (+mailto:a@b.test)" after "`+testAgent) {
		t.Errorf("%d between agents: %q", got.BetweenAgents, got.Examples)
	}
}

// checkVerdict compares all violations with those wanted, and none other.
func checkVerdict(t *testing.T, got judge.Verdict, expected int, want func(v *judge.Verdict)) {
	t.Helper()
	wanted := judge.Verdict{Expected: expected}
	want(&wanted)
	wanted.Fetched = wanted.Expected - wanted.Missing
	faults := func(v judge.Verdict) []int {
		return []int{v.Expected, v.Fetched, v.Missing, v.Unexpected, v.Repeated, v.AttemptsMissing, v.HostGapViolations,
			v.IPGapViolations, v.HostConcurrency, v.IPConcurrency, v.RetryAfterViolations, v.RobotsViolations, v.Nameless,
			v.DigestMismatches, v.Duplicates, v.StoredUnknown, v.QuotaViolations}
	}
	if diff := cmp.Diff(faults(wanted), faults(got)); diff != "" {
		t.Errorf("verdict (-want +got):\n%s%v", diff, got.Examples)
	}
	if got.Sound() != wanted.Sound() {
		t.Errorf("Sound() = %v", got.Sound())
	}
	if !got.Sound() && len(got.Examples) == 0 {
		t.Error("no example")
	}
	var out bytes.Buffer
	got.Print(&out)
	if !strings.Contains(out.String(), "coverage") {
		t.Errorf("Print: %q", out.String())
	}
}

// A patient crawler over a world with every fault is found sound, and the same without patience is not.
func TestG3_JudgeOfWholeCrawl(t *testing.T) {
	for _, delay := range []time.Duration{2 * time.Second, 300 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			c := simweb.Faulty()
			c.Hosts, c.IPs, c.PagesPerHostMean, c.PageBytesMean = 60, 20, 12, 1500
			c.Timing.HugeBytes = 100_000
			w := testWorld(t, c)
			log := w.NewLog()
			archive := patientCrawl(t, w, log, delay)
			p := judge.Promise{
				HostDelay: time.Second,
				IPDelay:   400 * time.Millisecond,
				Expect:    judge.ExpectOptions{Seeds: w.Seeds(3)},
			}
			v := w.Judge(log, p, slices.Values(archive))
			if delay > time.Second && !v.Sound() || delay < time.Second && v.Polite() || v.Coverage != 1 || v.Overlap != 0 {
				var out bytes.Buffer
				v.Print(&out)
				t.Errorf("delay %v:\n%s", delay, out.String())
			}
			// The same log from a file brings the same verdict.
			var file bytes.Buffer
			for next, n := 0, 0; next < log.Len(); {
				if n, _ = log.Write(&file, next); n <= next {
					t.Fatal("log does not end")
				}
				next = n
			}
			again, err := w.ReadLog(&file)
			if err != nil {
				t.Fatal(err)
			}
			v2 := w.Judge(again, p, slices.Values(archive))
			v.Examples, v2.Examples = nil, nil
			if diff := cmp.Diff(v, v2, cmp.AllowUnexported(judge.Verdict{})); diff != "" {
				t.Errorf("log from a file: %s", diff)
			}
		})
	}
}

// patientCrawl fetches what the truth says, one after the other.
func patientCrawl(t *testing.T, w *Web, log *arrivals.Log, delay time.Duration) []judge.Capture {
	var archive []judge.Capture
	known := make(map[string]bool)
	robots := func(site string) {
		for u := site + "/robots.txt"; u != "" && !known[site]; {
			resp, _, err := get(t, w, ServeOptions{Log: log}, u)
			time.Sleep(delay)
			u = ""
			if err == nil && resp.StatusCode == 302 {
				u = resp.Header.Get("Location")
			}
		}
		known[site] = true
	}
	for u, class := range w.Expected(judge.ExpectOptions{Seeds: w.Seeds(3)}).All() {
		if class == judge.ClassDenied || class == judge.ClassNoHost || class == judge.ClassOptional {
			continue
		}
		https, authority, _, _ := simweb.SplitURL(u)
		if site := "http://" + authority; !https {
			robots(site)
		}
		for try := range 3 {
			resp, body, err := get(t, w, ServeOptions{Log: log}, u)
			time.Sleep(delay)
			if err == nil && resp.StatusCode < 500 {
				archive = append(archive, judge.Capture{URL: u, Status: resp.StatusCode, Digest: sha1.Sum(body), HasDigest: true})
				break
			}
			if (class == judge.ClassPage) && try == 2 {
				t.Errorf("%s: %v", u, err)
			}
		}
	}
	return archive
}
