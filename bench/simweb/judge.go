package simweb

import (
	"crypto/sha1"
	"iter"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
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
	MaxPerHost int // pages stored of a site; 0 is no limit. A crawl with a limit is to be judged as Partial
	// Archives is how many archives the crawl has: one for each agent. Of several the union is judged, and what two of
	// them hold is overlap, not a fault of either. 0 means 1.
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
	Archive   int  // which archive, from 0, where several agents have one each
}

// Crawled is the responses and revisits of the archive, or of those of all agents, in any order.
type Crawled = iter.Seq[Capture]

// siteState is what the judge remembers of a host while it reads the log.
type siteState struct {
	last   last
	addr   netip.Addr
	known  bool // robots.txt has been answered
	told   bool // and the client must know what it says of delays
	wait   int64
	stored int
	failed int // requests for pages in a row without a good answer
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

// judge is one judgement under way.
type judge struct {
	w      *World
	log    *Log
	agents []string
	p      Promise
	v      Verdict
	truth  *Truth
	sites  map[int32]*siteState
	ips    map[netip.Addr]*last
	guests map[guestSite]*siteState
	seen   map[target]uint8
	holds  map[holding]struct{} // nil if there is one archive

	doc     doc
	scratch []byte
}

// holding is one page in one of several archives.
type holding struct {
	t       target
	archive int
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
func (w *World) Judge(log *Log, p Promise, crawled Crawled) Verdict {
	if p.Slack == 0 {
		p.Slack = 50 * time.Millisecond
	}
	p.DigestEvery = max(1, p.DigestEvery)
	j := &judge{w: w, log: log, p: p, truth: p.Truth, sites: make(map[int32]*siteState), ips: make(map[netip.Addr]*last),
		guests: make(map[guestSite]*siteState), seen: make(map[target]uint8)}
	j.v.Partial, j.v.Answered = p.Partial, crawled == nil
	j.v.MinHostGap, j.v.MinIPGap = -1, -1
	if p.Archives > 1 {
		j.holds, j.v.Shares = make(map[holding]struct{}), make([]Share, p.Archives)
	}
	if j.truth == nil && !p.Partial {
		j.truth = w.Expected(p.Expect)
	}
	var records []record
	records, j.agents = log.snapshot(0)
	slices.SortStableFunc(records, func(a, b record) int {
		if a.time != b.time {
			return int(min(max(a.time-b.time, -1), 1))
		}
		return int(min(max(a.end-b.end, -1), 1))
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

// classOf is what is right for a target in this crawl.
func (j *judge) classOf(t target) Class {
	if j.truth != nil {
		return j.truth.classes[t]
	}
	return j.w.class(t)
}

func (j *judge) site(i int32) *siteState {
	s := j.sites[i]
	if s == nil {
		s = &siteState{addr: j.w.addrOf(j.w.Host(int(i)))}
		j.sites[i] = s
	}
	return s
}

// arrival judges one request; they come in order of time.
func (j *judge) arrival(r *record) {
	v := &j.v
	v.Arrivals++
	agent := j.agents[r.agent]
	if agent == "" || !strings.Contains(agent, j.p.Contact) {
		v.Nameless++
		v.example("nameless", "%s by %q", j.log.url(r.t), agent)
	}
	if r.t.kind == kindGuest {
		j.guest(r)
		return
	}
	if r.t.host < 0 {
		v.Unexpected++
		v.example("unexpected", "%s", j.log.url(r.t))
		return
	}
	s := j.site(r.t.host)
	j.politeness(r, s)
	if r.t.kind == kindRobots || r.t.kind == kindRobotsOf {
		v.RobotsFetches++
		if r.t.kind == kindRobots {
			s.known, s.told = true, s.told || r.flags&flagLost == 0
		}
		return
	}
	c := j.classOf(r.t)
	switch {
	case c == ClassDenied:
		v.RobotsViolations++
		v.example("robots", "%s is denied", j.log.url(r.t))
	case !s.known && !j.p.Resumed:
		v.RobotsViolations++
		v.example("robots", "%s before robots.txt", j.log.url(r.t))
	case c == ClassNone:
		v.Unexpected++
		v.example("unexpected", "%s", j.log.url(r.t))
	}
	was := j.seen[r.t]
	if was&seenAsked == 0 {
		v.Unique++
	}
	isRoot := r.t == target{host: r.t.host, kind: kindPage}
	switch {
	case was&seenWhole != 0 && isRoot && s.failed >= proofAfter:
		v.Proofs++
	case was&seenWhole != 0 && c != ClassOptional:
		v.Repeated++
		v.example("repeated", "%s", j.log.url(r.t))
	case was&seenAsked != 0:
		v.Retries++
	}
	switch good := r.flags&flagWhole != 0 && r.status < 500 && r.status != 429; {
	case !good:
		s.failed++
	case !isRoot:
		s.failed = 0
	}
	is := was | seenAsked
	// A client that stops at its body limit has what it wants of a huge page.
	if r.flags&flagWhole != 0 || c == ClassCut && r.status == 200 {
		is |= seenWhole
		page := r.status == 200 || r.status == 304 // which says that it is as the client has it
		if page {
			is |= seenPage | seenBare
		}
		if page && r.flags&flagPacked != 0 {
			is = is&^seenBare | was&seenBare | seenPacked
		}
	}
	j.seen[r.t] = is
}

// politeness holds one request against the exchange before it at its host and address.
func (j *judge) politeness(r *record, s *siteState) {
	h := j.w.hostAt(int(r.t.host))
	delay := j.p.HostDelay
	if s.told {
		delay = max(delay, j.w.crawlDelay(&h))
	}
	j.gaps(r, s, delay)
}

// gaps holds it against the delays.
func (j *judge) gaps(r *record, s *siteState, hostDelay time.Duration) {
	v := &j.v
	delay := int64(hostDelay)
	slack := int64(j.p.Slack)
	if gap, some := s.last.gap(r, slack); some {
		switch {
		case gap < 0:
			v.HostConcurrency++
			v.example("host at once", "%s %v before the end of the one before%s", j.log.url(r.t), time.Duration(-gap), j.between(&s.last, r))
		case gap < delay:
			v.HostGapViolations++
			v.example("host gap", "%s after %v%s", j.log.url(r.t), time.Duration(gap), j.between(&s.last, r))
		case gap < s.wait:
			v.RetryAfterViolations++
			v.example("retry after", "%s after %v", j.log.url(r.t), time.Duration(gap))
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
			v.example("IP at once", "%s %v before the end of the one before%s", j.log.url(r.t), time.Duration(-gap), j.between(ip, r))
		case gap < int64(j.p.IPDelay):
			v.IPGapViolations++
			v.example("IP gap", "%s after %v%s", j.log.url(r.t), time.Duration(gap), j.between(ip, r))
		}
		if !ip.cut {
			v.MinIPGap = smaller(v.MinIPGap, gap)
		}
	}
	s.last.note(r)
	ip.note(r)
	s.wait = 0
	if r.flags&(flagRetryAfter|flagLost) == flagRetryAfter {
		s.wait = int64(j.w.c.Timing.RetryAfter)
	}
}

// gap is the time between the exchange before and this request.
func (l *last) gap(r *record, slack int64) (gap int64, some bool) {
	gap = r.time - l.end
	if l.cut {
		gap += slack
	}
	return gap, l.some
}

func (l *last) note(r *record) {
	if !l.some || r.end >= l.end {
		l.end, l.cut, l.agent = r.end, r.flags&flagCut != 0, r.agent
	}
	l.some = true
}

// between counts a breach that came of two agents together, and names them.
func (j *judge) between(before *last, r *record) string {
	if before.agent == r.agent {
		return ""
	}
	j.v.BetweenAgents++
	return ", by " + strconv.Quote(j.agents[r.agent]) + " after " + strconv.Quote(j.agents[before.agent])
}

func smaller(have time.Duration, gap int64) time.Duration {
	if have < 0 || time.Duration(gap) < have {
		return max(0, time.Duration(gap))
	}
	return have
}

// archive judges what is stored.
func (j *judge) archive(crawled Crawled) {
	v := &j.v
	n := 0
	for c := range crawled {
		if _, authority, _, ok := split(c.URL); c.Status != 200 || ok && j.w.guests.Has(authority) {
			continue
		}
		t, ok := j.w.find(c.URL)
		if ok && t.kind == kindRobots || t.kind == kindRobotsOf {
			continue
		}
		class := ClassNone
		if ok {
			class = j.classOf(t)
		}
		if class != ClassPage && class != ClassCut {
			if class == ClassAttempt && c.Truncated {
				continue // what came of an answer that never comes whole
			}
			v.StoredUnknown++
			v.example("stored unknown", "%s (%v)", c.URL, class)
			continue
		}
		was := j.seen[t]
		if c.Truncated && class == ClassPage {
			if j.mayBeCut(t) {
				continue
			}
			v.DigestMismatches++
			v.example("digest", "%s is cut without need", c.URL)
		}
		if was&seenStored != 0 && !j.elsewhere(t, c.Archive) {
			v.Duplicates++
			v.example("duplicate", "%s", c.URL)
			continue
		}
		j.hold(t, c.Archive)
		if was&seenStored == 0 {
			v.Stored++
			j.seen[t] = was | seenStored
			j.quota(t)
		}
		n++
		if c.Truncated || n%j.p.DigestEvery != 0 {
			continue
		}
		if !c.HasDigest || !j.sent(t, was, c.Digest) {
			v.DigestMismatches++
			v.example("digest", "%s", c.URL)
		}
	}
}

// elsewhere says that a page which is stored is stored in other archives only.
func (j *judge) elsewhere(t target, archive int) bool {
	_, here := j.holds[holding{t, archive}]
	return j.holds != nil && !here
}

// hold notes in which of several archives a page is.
func (j *judge) hold(t target, archive int) {
	j.v.Held++
	if j.holds == nil {
		return
	}
	j.holds[holding{t, archive}] = struct{}{}
	j.v.Shares[archive].Pages++
	host := holding{target{host: t.host, kind: kindRobots}, archive} // the host's robots.txt stands for the host
	if _, known := j.holds[host]; !known {
		j.holds[host] = struct{}{}
		j.v.Shares[archive].Hosts++
	}
}

// sent says that a digest is that of a payload as the server sent it, or, if that was before the log began, may have.
func (j *judge) sent(t target, was uint8, digest [20]byte) bool {
	forms := was & (seenBare | seenPacked)
	for _, form := range [...]uint8{seenBare, seenPacked} {
		if forms != 0 && forms&form == 0 {
			continue
		}
		j.scratch, _ = j.w.payload(j.scratch[:0], &j.doc, t, form == seenPacked)
		if sha1.Sum(j.scratch) == digest {
			return true
		}
	}
	return false
}

// mayBeCut says that the first answer for a page is cut, so that a record of that is no wrong.
func (j *judge) mayBeCut(t target) bool {
	h := j.w.hostAt(int(t.host))
	return t.kind == kindPage && j.w.pageAt(&h, int(t.page)).shape == shapeOnceCut
}

func (j *judge) quota(t target) {
	s := j.site(t.host)
	s.stored++
	if j.p.MaxPerHost > 0 && s.stored == j.p.MaxPerHost+1 {
		j.v.QuotaViolations++
		j.v.example("quota", "%s", j.w.Host(int(t.host)))
	}
}

// sum compares the sets.
func (j *judge) sum(serverOnly bool) {
	v := &j.v
	want := uint8(seenStored)
	if serverOnly {
		want = seenPage
	}
	expect := func(t target, c Class) {
		switch c {
		case ClassPage, ClassCut:
			v.Expected++
			if j.seen[t]&want != 0 {
				v.Fetched++
			} else {
				v.Missing++
				v.example("missing", "%s", j.w.appendURL(nil, t))
			}
		case ClassAttempt:
			if j.seen[t]&seenAsked == 0 {
				v.AttemptsMissing++
				v.example("not attempted", "%s", j.w.appendURL(nil, t))
			}
		}
	}
	if j.truth != nil && !j.p.Partial {
		for t, c := range j.truth.classes {
			expect(t, c)
		}
	} else {
		for t, is := range j.seen {
			if is&seenPage != 0 {
				expect(t, j.classOf(t))
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
