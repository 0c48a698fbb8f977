package engine

import (
	"encoding/binary"
	"math"
	"time"

	"orbweaver/engine/outcome"
)

// trouble is what the engine keeps of a site that fails: docs/adr/0032. A site that has answered before keeps its queue while it is in
// trouble. The zero value is no trouble. All times are in Unix seconds.
type trouble struct {
	since       uint32          // the first of the failures in a row; later by each gap of more than troubleGap
	last        uint32          // the last of them
	back        uint32          // when the site said that it will be back (Retry-After); 0 if its last failure named no time
	row         uint16          // failures since the last answer, to a request for a page or for robots.txt
	sinceProof  uint8           // failures since the site was last asked for a proof; see wantedProof
	names       uint8           // of the failures in a row, those of the name system
	why         outcome.Outcome // the last failure
	servesPages bool            // the last proof showed that the site serves pages: what fails since then are URLs
	rootFailed  bool            // the root page is no proof: it was never served and failed, or the operator's filters refuse it
}

const (
	// troubleGap is the longest time between two failures that counts as time of failure. Nobody asked the site for longer than the longest
	// Retry-After that is kept: the crawl did not run, or had nothing queued for it.
	troubleGap = 36 * 60 * 60
	// troubleRow is how many failures in a row are trouble of the site, if each of them could be the URL's own.
	troubleRow = 3
	troubleMax = 1 << 12 // failures that are counted
)

// trouble is what is known of the site's failures.
func (s *Site) trouble() trouble {
	if s.rare == nil {
		return trouble{}
	}
	return s.rare.trouble
}

// failed notes a failure of the site. back is the time that the site named, zero for none.
func (s *Site) failed(o outcome.Outcome, now, back time.Time) {
	t := s.trouble()
	at := unixSeconds(now)
	switch {
	case t.since == 0 || at < t.last: // the clock went back
		t.since = at
	case at-t.last > troubleGap:
		t.since += at - t.last
	}
	if t.why.Class() == outcome.ClassHost && o.Class() != outcome.ClassHost { // the server is there again: a new trouble, whose waits are short
		t.row = 0
	}
	t.last, t.why = at, o
	if !back.IsZero() {
		t.back = unixSeconds(back.Add(time.Second - 1)) // the next whole second: never earlier than the site said
	} else if t.back <= at { // else something failed meanwhile that did not ask the site
		t.back = 0
	}
	t.sinceProof = min(t.sinceProof+1, proofPeriod)
	if !t.servesPages || t.row == 0 {
		t.row = min(t.row+1, troubleMax)
	}
	s.setRare(s.addrs(), t)
}

// nameFailed notes that the name could not be resolved, and says how often in a row.
func (s *Site) nameFailed(o outcome.Outcome, now time.Time) int {
	s.failed(o, now, time.Time{})
	t := s.trouble()
	t.names = min(t.names+1, math.MaxUint8-1)
	s.setRare(s.addrs(), t)
	return int(t.names)
}

// nameWaits notes that the name servers, all of them, do not answer: that is no failure of the site.
func (s *Site) nameWaits() {
	t := s.trouble()
	t.names, t.why = max(t.names, 1), outcome.NameFault
	s.setRare(s.addrs(), t)
}

// nameFound ends the failures of the name. Those of the server end with an answer.
func (s *Site) nameFound() {
	if t := s.trouble(); t.names > 0 {
		if t.names = 0; t.since == 0 {
			t.why = outcome.None
		}
		s.setRare(s.addrs(), t)
	}
}

// answeredPage notes an answer to a request for a page, which ends all trouble.
func (s *Site) answeredPage() {
	s.Answered = true
	if s.trouble() != (trouble{}) { // setRare allocates for a site with several addresses
		s.setRare(s.addrs(), trouble{})
	}
}

// answeredRobots notes an answer to a request for robots.txt. It proves that the server is there, and not that it serves pages: a server in front of
// an application that is down may answer it. So the failures of pages stay. If nothing can prove more, one of them counts for its URL after the site has
// failed for so long.
func (s *Site) answeredRobots(now time.Time, long time.Duration) {
	s.Answered = true
	t := s.trouble()
	if t == (trouble{}) || t.why == outcome.TooMany {
		return
	}
	t.back, t.names, t.sinceProof, t.servesPages = 0, 0, 0, false
	if t.row = min(t.row, 1); s.failedFor(now) >= long && !s.provesByRoot(t) {
		t.row = 0
	}
	s.setRare(s.addrs(), t)
}

// answeredRoot notes that a site in trouble has answered a request for its root page that was made as a proof.
func (s *Site) answeredRoot() {
	s.Answered, s.ServesRoot = true, true
	if t := s.trouble(); t != (trouble{}) {
		t.back, t.names, t.row, t.sinceProof, t.servesPages = 0, 0, 0, 0, true
		s.setRare(s.addrs(), t)
	}
}

// failedProof notes that the site did not answer a request that was made as a proof.
func (s *Site) failedProof(p proof) {
	t := s.trouble()
	t.sinceProof, t.servesPages = 0, false
	t.rootFailed = t.rootFailed || p == rootProof && !s.ServesRoot
	s.setRare(s.addrs(), t)
}

// refusedRoot notes that the operator's filters refuse the root page, so it cannot be a proof in this trouble.
func (s *Site) refusedRoot() {
	t := s.trouble()
	t.rootFailed = true
	s.setRare(s.addrs(), t)
}

// proof is what a site in trouble must answer to show that it is there.
type proof uint8

const (
	noProof     proof = iota
	robotsProof       // its robots.txt
	rootProof         // its root page
)

const (
	proofPeriod = 4 // of so many requests to a site in trouble, the last is for a proof
	proofSoon   = 2 // failures before a proof, if the site has one URL only: no other can fail or answer
)

// wantedProof says what a site in trouble must answer next, that has so many items in its Visit. In the first time of its failures, early, an answer to
// robots.txt keeps the site from waiting ever longer. Later only its root page shows that other pages are broken, and not the site. A site that says 429
// speaks of the pace, and not of the page: robots.txt proves nothing about it.
func (s *Site) wantedProof(items int, early bool) proof {
	t := s.trouble()
	switch {
	case !s.Answered || t.row == 0 && !t.servesPages:
		return noProof
	case t.why.Class() != outcome.ClassFault && t.why.Class() != outcome.ClassBusy || t.why == outcome.ProxyFault:
		return noProof
	case t.sinceProof < proofPeriod-1 && (t.sinceProof < proofSoon || t.servesPages || items > 1):
		return noProof
	case !early && s.provesByRoot(t):
		return rootProof
	case t.why == outcome.TooMany:
		return noProof
	}
	return robotsProof
}

// provesByRoot says that the root page can show whether the site serves pages: robots.txt allows it, and it has been served before or may be served.
func (s *Site) provesByRoot(t trouble) bool {
	return s.Rules != nil && s.Rules.Allowed([]byte{'/'}) && !t.rootFailed
}

// inTrouble says that the site failed last, or asked to slow down.
func (s *Site) inTrouble() bool {
	t := s.trouble()
	return s.Denied || t.names > 0 || !t.servesPages && (s.Failures != 0 || t.row >= troubleRow)
}

// isWell is the contrary of inTrouble.
func (s *Site) isWell() bool { return !s.inTrouble() }

// failedFor is for how long the site has failed without an answer.
func (s *Site) failedFor(now time.Time) time.Duration {
	t := s.trouble()
	if at := unixSeconds(now); t.since > 0 && at > t.since {
		return time.Duration(at-t.since) * time.Second
	}
	return 0
}

// isAwaited says that the site named the time when it is back, no later than wait after its first failure. A site that
// breaks its word and names another time is not waited for again and again.
func (s *Site) isAwaited(wait time.Duration) bool {
	t := s.trouble()
	return t.back > 0 && time.Duration(t.back)*time.Second <= time.Duration(t.since)*time.Second+wait
}

// ages is the trouble as another agent gets it, whose clock is another: in place of times it has how long ago they were, and for back how
// long the site is still to be left alone.
func (t trouble) ages(now time.Time) trouble {
	at := max(unixSeconds(now), t.last)
	if t.since > 0 {
		t.since, t.last = at-t.since+1, at-t.last+1
	}
	t.back -= min(t.back, at)
	t.names, t.sinceProof, t.servesPages, t.rootFailed = 0, 0, false, false
	return t
}

// fromAges undoes ages, so long later. The wait that the site asked for is counted from now: it may become longer and never shorter.
func (t trouble) fromAges(now time.Time, later time.Duration) trouble {
	if t.since > 0 {
		at := unixSeconds(now.Add(-max(later, 0))) + 1
		t.since, t.last = at-min(t.since, at-1), at-min(t.last, at-1)
	}
	if t.back > 0 {
		t.back = uint32(min(uint64(unixSeconds(now))+uint64(t.back), math.MaxUint32))
	}
	t.names = 0
	return t
}

func unixSeconds(t time.Time) uint32 { return uint32(min(max(t.Unix(), 0), math.MaxUint32)) }

// append appends the snapshot form.
func (t trouble) append(dst []byte) []byte {
	dst = binary.AppendVarint(dst, int64(t.names))
	for _, n := range [...]uint32{t.since, t.last, t.back, uint32(t.row)} {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return append(dst, byte(t.why))
}

// trouble reads what append wrote, or the part of it that forms before siteVersion have.
func (r *siteForm) trouble(version byte) (t trouble) {
	t.names = uint8(min(max(r.varint(), 0), math.MaxUint8-1))
	if version < siteVersion {
		return t
	}
	for _, n := range [...]*uint32{&t.since, &t.last, &t.back} {
		*n = uint32(r.uvarint(math.MaxUint32))
	}
	t.row = uint16(r.uvarint(troubleMax))
	if t.why = outcome.Outcome(r.byte()); int(t.why) >= outcome.Count {
		r.bad = true
	}
	return t
}
