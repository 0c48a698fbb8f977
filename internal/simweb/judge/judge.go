package judge

import (
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/content"
)

// Promise is what the crawler was told, and so what it is held to.
type Promise struct {
	HostDelay time.Duration
	IPDelay   time.Duration
	Expect    ExpectOptions // ignored if Truth is given
	Truth     *Truth        // of Expect, if the caller has it already
	// Partial says that the crawl was stopped before its end. Then nothing is missing but what the server answered
	// whole and the archive lacks, and every URL of the world is expected.
	Partial bool
	// UnderWay is how many answered pages a partial crawl may lack: those under way when a limit was reached.
	UnderWay int
	// Resumed says that robots.txt may have been fetched before the log began.
	Resumed bool
	// Contact must be part of every User-Agent; if it is empty any User-Agent will do.
	Contact    string
	MaxPerHost int // pages stored of a site; 0 is no limit. A crawl with a limit must be judged as Partial
	// Archives is how many archives the crawl has: one for each agent. Of several archives the union is judged, and what
	// two of them hold is overlap, not a fault of either. 0 means 1.
	Archives int
	// Slack is granted where the client ended an exchange, as the server sees that late. 0 means 50 ms.
	Slack time.Duration
	// DigestEvery is how many stored pages there are for one whose payload is computed and compared; 0 means 1.
	DigestEvery int
}

// Capture is one response of the archive.
type Capture struct {
	URL       string // WARC-Target-URI
	Status    int
	Digest    [20]byte // SHA-1 of the payload: without chunking, with content encoding
	HasDigest bool
	Truncated bool // WARC-Truncated is there
	IsDrawn   bool // the archive says that a browser must draw the page
	Archive   int  // which archive, from 0, where several agents have one each
}

// Crawled is the responses and revisits of the archive, or of those of all agents, in any order.
type Crawled = iter.Seq[Capture]

// siteState is what the judge remembers of a host while it reads the log.
type siteState struct {
	last       last
	addr       netip.Addr
	known      bool // robots.txt has been answered
	delayKnown bool // and the client must know what it says of delays
	wait       int64
	stored     int
	failed     int // requests for pages in a row without a good answer
}

// proofAfter is after how many failures in a row a host may be asked for its root page once more.
const proofAfter = 2

// last is the end of the latest exchange, nanoseconds from the log's start.
type last struct {
	end   int64
	cut   bool
	some  bool
	agent uint8 // the User-Agent that asked
}

// truthOf returns what is right in a crawl: of a partial one every URL of the world.
func truthOf(m *simweb.Model, p Promise) *Truth {
	if p.Partial {
		return &Truth{model: m, partial: true}
	}
	return Expected(m, p.Expect)
}

// judge is one judgement under way.
type judge struct {
	model      *simweb.Model
	writer     *content.Writer
	log        *arrivals.Log
	agents     []string
	p          Promise
	retryAfter time.Duration // that unavailable pages ask for
	v          Verdict
	truth      *Truth
	sites      map[int32]*siteState
	ips        map[netip.Addr]*last
	guests     map[guestSite]*siteState
	seen       map[simweb.Target]uint8
	holds      map[holding]struct{} // nil if there is one archive

	examples map[string]int // found, by kind

	doc     content.Document
	scratch []byte
}

const (
	seenAsked = 1 << iota
	seenWhole
	seenPage // answered whole with status 200
	seenStored
	seenPacked // and sent in its gzip form
	seenBare   // and not
)

// Judge holds the log and the archive against the truth. With crawled nil what the server answered whole counts as
// stored.
func Judge(m *simweb.Model, writer *content.Writer, log *arrivals.Log, p Promise, crawled Crawled) Verdict {
	if p.Slack == 0 {
		p.Slack = 50 * time.Millisecond
	}
	p.DigestEvery = max(1, p.DigestEvery)
	j := &judge{
		model: m, writer: writer, log: log, p: p, retryAfter: m.Config().Timing.RetryAfter, truth: p.Truth,
		sites: make(map[int32]*siteState), ips: make(map[netip.Addr]*last), guests: make(map[guestSite]*siteState),
		seen: make(map[simweb.Target]uint8), examples: make(map[string]int),
	}
	j.v.Partial, j.v.Answered = p.Partial, crawled == nil
	j.v.MinHostGap, j.v.MinIPGap = -1, -1
	if p.Archives > 1 {
		j.holds, j.v.Shares = make(map[holding]struct{}), make([]Share, p.Archives)
	}
	if p.Truth == nil {
		j.truth = truthOf(m, p)
	}
	var records []arrivals.Record
	records, j.agents = log.Snapshot(0)
	slices.SortStableFunc(records, func(a, b arrivals.Record) int {
		if a.Time != b.Time {
			return int(min(max(a.Time-b.Time, -1), 1))
		}
		return int(min(max(a.End-b.End, -1), 1))
	})
	for i := range records {
		j.arrival(&records[i])
	}
	if crawled != nil {
		j.archive(crawled)
	}
	j.sum(crawled == nil)
	return j.v
}

func (j *judge) site(i int32) *siteState {
	s := j.sites[i]
	if s == nil {
		s = &siteState{addr: j.model.AddrOf(j.model.Host(int(i)))}
		j.sites[i] = s
	}
	return s
}

// arrival judges one request; they come in order of time.
func (j *judge) arrival(r *arrivals.Record) {
	v := &j.v
	v.Arrivals++
	agent := j.agents[r.Agent]
	if agent == "" || !strings.Contains(agent, j.p.Contact) {
		v.Nameless++
		j.example("nameless", "%s by %q", j.log.URL(r.Target), agent)
	}
	if r.Target.Kind == simweb.KindGuest {
		j.guest(r)
		return
	}
	if r.Target.Host < 0 {
		v.Unexpected++
		j.example("unexpected", "%s", j.log.URL(r.Target))
		return
	}
	s := j.site(r.Target.Host)
	j.politeness(r, s)
	if r.Target.Kind == simweb.KindRobots || r.Target.Kind == simweb.KindRobotsOf {
		v.RobotsFetches++
		if r.Target.Kind == simweb.KindRobots {
			s.known, s.delayKnown = true, s.delayKnown || r.Flags&arrivals.FlagLost == 0
		}
		return
	}
	c := j.truth.classOf(r.Target)
	switch {
	case c == ClassDenied:
		v.RobotsViolations++
		j.example("robots", "%s is denied", j.log.URL(r.Target))
	case !s.known && !j.p.Resumed:
		v.RobotsViolations++
		j.example("robots", "%s before robots.txt", j.log.URL(r.Target))
	case c == ClassNone && r.Target.Kind == simweb.KindUnknown && j.model.Config().Unlinked > 0:
		v.MinedMisses++
	case c == ClassNone:
		v.Unexpected++
		j.example("unexpected", "%s", j.log.URL(r.Target))
	}
	was := j.seen[r.Target]
	if was&seenAsked == 0 {
		v.Unique++
	}
	if c == ClassUnlinked {
		v.MinedHits++
	}
	isRoot := r.Target == simweb.Target{Host: r.Target.Host, Kind: simweb.KindPage}
	switch {
	case was&seenWhole != 0 && isRoot && s.failed >= proofAfter:
		v.Proofs++
	case was&seenWhole != 0 && c != ClassOptional:
		v.Repeated++
		j.example("repeated", "%s", j.log.URL(r.Target))
	case was&seenAsked != 0:
		v.Retries++
	}
	switch good := r.Flags&arrivals.FlagWhole != 0 && r.Status < 500 && r.Status != 429; {
	case !good:
		s.failed++
	case !isRoot:
		s.failed = 0
	}
	is := was | seenAsked
	// A client that stops at its body limit has what it wants of a huge page.
	if r.Flags&arrivals.FlagWhole != 0 || c == ClassCut && r.Status == 200 {
		is |= seenWhole
		page := r.Status == 200 || r.Status == 304 // which says that it is as the client has it
		if page {
			is |= seenPage | seenBare
		}
		if page && r.Flags&arrivals.FlagPacked != 0 {
			is = is&^seenBare | was&seenBare | seenPacked
		}
	}
	j.seen[r.Target] = is
}

// politeness holds one request against the exchange before it at its host and address.
func (j *judge) politeness(r *arrivals.Record, s *siteState) {
	h := j.model.HostAt(int(r.Target.Host))
	delay := j.p.HostDelay
	if s.delayKnown {
		delay = max(delay, h.CrawlDelay())
	}
	j.gaps(r, s, delay)
}

// gaps holds it against the delays.
func (j *judge) gaps(r *arrivals.Record, s *siteState, hostDelay time.Duration) {
	v := &j.v
	delay := int64(hostDelay)
	slack := int64(j.p.Slack)
	const early = "%s %v before the end of the exchange before%s"
	if gap, some := s.last.gap(r, slack); some {
		switch {
		case gap < 0:
			v.HostConcurrency++
			j.example("host at once", early, j.log.URL(r.Target), time.Duration(-gap), j.between(&s.last, r))
		case gap < delay:
			v.HostGapViolations++
			j.example("host gap", "%s after %v%s", j.log.URL(r.Target), time.Duration(gap), j.between(&s.last, r))
		case gap < s.wait:
			v.RetryAfterViolations++
			j.example("retry after", "%s after %v", j.log.URL(r.Target), time.Duration(gap))
		}
		if !s.last.cut {
			v.MinHostGap = smaller(v.MinHostGap, gap)
		}
	}
	ip := j.ips[s.addr]
	if ip == nil {
		ip = new(last)
		j.ips[s.addr] = ip
	}
	if gap, some := ip.gap(r, slack); some {
		switch {
		case gap < 0:
			v.IPConcurrency++
			j.example("IP at once", early, j.log.URL(r.Target), time.Duration(-gap), j.between(ip, r))
		case gap < int64(j.p.IPDelay):
			v.IPGapViolations++
			j.example("IP gap", "%s after %v%s", j.log.URL(r.Target), time.Duration(gap), j.between(ip, r))
		}
		if !ip.cut {
			v.MinIPGap = smaller(v.MinIPGap, gap)
		}
	}
	s.last.note(r)
	ip.note(r)
	s.wait = 0
	if r.Flags&(arrivals.FlagRetryAfter|arrivals.FlagLost) == arrivals.FlagRetryAfter {
		s.wait = int64(j.retryAfter)
	}
}

// gap is the time between the exchange before and this request.
func (l *last) gap(r *arrivals.Record, slack int64) (gap int64, some bool) {
	gap = r.Time - l.end
	if l.cut {
		gap += slack
	}
	return gap, l.some
}

func (l *last) note(r *arrivals.Record) {
	if !l.some || r.End >= l.end {
		l.end, l.cut, l.agent = r.End, r.Flags&arrivals.FlagCut != 0, r.Agent
	}
	l.some = true
}

// between counts a breach that came of two agents together, and names them.
func (j *judge) between(before *last, r *arrivals.Record) string {
	if before.agent == r.Agent {
		return ""
	}
	j.v.BetweenAgents++
	return ", by " + strconv.Quote(j.agents[r.Agent]) + " after " + strconv.Quote(j.agents[before.agent])
}

func smaller(have time.Duration, gap int64) time.Duration {
	if have < 0 || time.Duration(gap) < have {
		return max(0, time.Duration(gap))
	}
	return have
}

// sum compares the sets.
func (j *judge) sum(serverOnly bool) {
	v := &j.v
	want := uint8(seenStored)
	if serverOnly {
		want = seenPage
	}
	expect := func(t simweb.Target, c Class) {
		switch c {
		case ClassPage, ClassCut:
			v.Expected++
			if j.seen[t]&want != 0 {
				v.Fetched++
			} else {
				v.Missing++
				j.example("missing", "%s", j.model.AppendURL(nil, t))
			}
		case ClassAttempt:
			if j.seen[t]&seenAsked == 0 {
				v.AttemptsMissing++
				j.example("not attempted", "%s", j.model.AppendURL(nil, t))
			}
		}
	}
	if !j.p.Partial {
		for t, c := range j.truth.classes {
			expect(t, c)
		}
	} else {
		for t, is := range j.seen {
			if is&seenPage != 0 {
				expect(t, j.truth.classOf(t))
			}
		}
	}
	if j.p.Partial {
		v.UnderWay = min(v.Missing, j.p.UnderWay)
		v.Expected -= v.UnderWay
		v.Missing -= v.UnderWay
		if v.Missing == 0 {
			v.Examples = slices.DeleteFunc(v.Examples, func(e string) bool { return strings.HasPrefix(e, "missing: ") })
		}
	}
	v.Unlinked = j.truth.unlinked()
	for t, is := range j.seen {
		if is&want != 0 && v.Unlinked > 0 && j.truth.classOf(t) == ClassUnlinked {
			v.UnlinkedFound++
		}
	}
	v.Coverage = 1
	if v.Expected > 0 {
		v.Coverage = float64(v.Fetched) / float64(v.Expected)
	}
	if v.Unique > 0 {
		v.Overlap = float64(v.Repeated) / float64(v.Unique)
	}
	if v.Stored > 0 {
		v.OverlapHeld = float64(v.Held-v.Stored) / float64(v.Stored)
	}
}

// guestSite is a site of a guest.
type guestSite struct {
	https     bool
	authority string
}

// guest judges a request for a host of a guest: it must be as polite as any, and all else is the guest's business. A
// guest ends when it has seen that the client has what it wants, which is a little late: slack is granted.
func (j *judge) guest(r *arrivals.Record) {
	https, authority, _, ok := simweb.SplitURL(j.log.URL(r.Target))
	if !ok {
		return
	}
	site := guestSite{https, authority}
	s := j.guests[site]
	if s == nil {
		name, _, _ := simweb.SplitPort(authority)
		s = &siteState{addr: j.log.AddrOf(name)}
		j.guests[site] = s
	}
	late := *r
	late.Flags |= arrivals.FlagCut
	j.gaps(&late, s, j.p.HostDelay)
}

// examplesEach is how many examples of one kind are kept.
const examplesEach = 5

// example keeps the first few of a kind.
func (j *judge) example(kind, format string, args ...any) {
	j.examples[kind]++
	if j.examples[kind] <= examplesEach {
		j.v.Examples = append(j.v.Examples, kind+": "+fmt.Sprintf(format, args...))
	}
}
