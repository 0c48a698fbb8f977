package site

import (
	"encoding/binary"
	"errors"
	"math"
	"net/netip"
	"time"

	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/robots"
	"orbweaver/internal/outcome"
)

// State is what the engine knows about one site. The zero value is a new site.
//
// There is one State for each known site, so it is small: rare facts are behind a pointer, and times are integers.
type State struct {
	Rules *robots.Rules // nil until robots.txt was fetched; shared through RulesPool
	// nil if there are none; shared by copies of the State, so it is replaced and never changed
	rare         *rareFacts
	addrUntil    int64  // Addrs.until
	RulesUntil   uint32 // when Rules expire, Unix seconds; at most 24 h after the fetch (RFC 9309, section 2.4)
	Stored       int32  // pages stored, for --max-per-host; no more are counted at the end of its range
	KiB          uint32 // received from the server, about: each exchange is rounded up. For the operator
	Requisites   RequisiteCount
	LastExchange Moment // when the last exchange of this run ended. It has no encoded form
	// consecutive failures, see politeness.Decision: above 0 unreachable, below 0 asked to slow down
	Failures       int16
	Errors         uint16              // exchanges that failed, at most 65,535. For the operator
	Slowdown       politeness.Slowdown // how much the host delay is lengthened
	DeepRequisites uint8               // requisites of style sheets and frames that no page has paid for, in halves
	RobotsTries    int8                // failed attempts at robots.txt since the last success
	HasAnswered    bool                // the server has answered at least once
	HasServedRoot  bool                // the root page was served at least once, so it can serve as a probe
	CutsBodies     bool                // all its bodies were cut in the same way, again and again: see NoteCut
	DenyAll        bool                // every URL is disallowed: robots.txt is unreachable and no copy is valid
	Blocked        bool                // blocked by the operator
	HTTP2          HTTP2Probe          // by --probe-h2, or what --http2 has learnt
	DeadOutcome    outcome.Outcome     // the outcome that queued URLs of a dead site get; outcome.None for a live site
}

// AwaitsOtherRobots reports whether a parked site waits for a robots.txt to which another site has to answer: its own
// redirects there. A site that is held at --max-pages is parked, too; if it has no rules, it was never asked.
func (s *State) AwaitsOtherRobots() bool {
	_, asked := s.LastExchange.Until(time.Now())
	return s.Rules == nil && asked
}

// HTTP2Probe says whether a site was, or will be, asked again over HTTP/2, and why. With --http2 it says whether the
// site gets HTTP/1.1.
type HTTP2Probe uint8

// The reasons for a probe, and its end. Before the probe only HTTP2Probed has an encoded form, so there is one at most.
// HTTP2Failed has none: the next request over HTTP/1.1 decides. HTTP2Answered has none: the next answer says it again.
const (
	NoHTTP2Probe  HTTP2Probe = iota
	HTTP2Answered            // with --http2, the site has answered over HTTP/2, and not failed since
	HTTP2Probed
	HTTP2ForALPN   // no protocol in common
	HTTP2ForNoWord // closed without an answer
	HTTP2For403
	HTTP2For426
	HTTP2For505
	HTTP2Failed   // the last exchange was over HTTP/2 and ended without an answer
	HTTP1Answered // the one after that was over HTTP/1.1 and had one: all others are as well
)

// String is the reason.
func (h HTTP2Probe) String() string {
	return [...]string{"", "", "", "alpn", "closed", "403", "426", "505", "", ""}[h]
}

// rareFacts are facts that only few sites have.
type rareFacts struct {
	addrs    []netip.Addr  // Addrs.list
	failures FailureStreak // zero for a healthy site
	cuts     cuts          // of the same failures; not encoded
	logIn    logIn         // not encoded
}

// SetAddrsAndFailures replaces addresses and failure streak. It takes addrs.
func (s *State) SetAddrsAndFailures(addrs []netip.Addr, t FailureStreak) {
	before, redirects := s.rare, logInOf(s)
	if s.rare = nil; addrs != nil || t != (FailureStreak{}) || redirects != (logIn{}) {
		s.rare = &rareFacts{addrs: addrs, failures: t, logIn: redirects}
	}
	if before != nil && t != (FailureStreak{}) {
		s.rare.cuts = before.cuts
	}
}

const (
	siteVersion  = 8 // the version that Append writes
	siteVersion7 = 7 // without RobotsFault of the failure streak
	siteVersion6 = 6 // also without Requisites
	siteVersion5 = 5 // also without the probes of the failure streak
	siteVersion4 = 4 // also without Errors and KiB
	siteVersion3 = 3 // also without HasAnswered and with only NameFailures of the failure streak
	siteVersion2 = 2 // also without Slowdown
)

// The flags in the second byte of the encoded form.
const (
	flagHasRules = 1 << iota
	flagDenyAll
	flagBlocked
	flagHasAnswered
	flagHasServedRoot
	flagCutsBodies
	flagHTTP2Probed   // later than version 8; earlier programs ignore it
	flagHTTP1Answered // likewise
)

// New returns a site with known robots.txt rules and address. Benchmarks use it to measure the size of a State.
func New(rules *robots.Rules, rulesUntil, addrUntil time.Time) State {
	var s State
	s.SetRules(rules, rulesUntil)
	s.addrUntil = unixNano(addrUntil)
	return s
}

// Append appends the encoded form of s to dst.
func Append(dst []byte, s *State) []byte {
	var flags byte
	if s.Rules != nil {
		flags |= flagHasRules
	}
	if s.DenyAll {
		flags |= flagDenyAll
	}
	if s.Blocked {
		flags |= flagBlocked
	}
	if s.HasAnswered {
		flags |= flagHasAnswered
	}
	if s.HasServedRoot {
		flags |= flagHasServedRoot
	}
	if s.CutsBodies {
		flags |= flagCutsBodies
	}
	switch s.HTTP2 {
	case NoHTTP2Probe, HTTP2Answered, HTTP2Failed:
	case HTTP1Answered:
		flags |= flagHTTP1Answered
	default:
		flags |= flagHTTP2Probed
	}
	t := s.FailureStreak()
	dst = append(dst, siteVersion, flags, byte(s.DeadOutcome), byte(s.RobotsTries))
	dst = binary.AppendVarint(dst, int64(s.Stored))
	dst = binary.AppendVarint(dst, int64(s.Failures))
	dst = t.append(dst)
	dst = append(dst, byte(s.Slowdown))
	dst = binary.AppendUvarint(dst, uint64(s.Errors))
	dst = binary.AppendUvarint(dst, uint64(s.KiB))
	dst = append(binary.AppendUvarint(dst, uint64(s.Requisites)), s.DeepRequisites)
	dst = binary.AppendUvarint(dst, uint64(s.RulesUntil))
	dst = binary.AppendVarint(dst, s.addrUntil)
	addrs := s.Addrs().list
	dst = binary.AppendUvarint(dst, uint64(len(addrs)))
	for _, a := range addrs {
		b := a.AsSlice()
		dst = append(append(dst, byte(len(b))), b...)
	}
	if s.Rules != nil {
		dst = s.Rules.Append(dst)
	}
	return dst
}

var errInvalid = errors.New("site: invalid encoded state")

// decoder reads numbers from the encoded form of a State. After the first error, invalid stays true.
type decoder struct {
	b       []byte
	invalid bool
}

// uvarint reads a number that must be at most max.
func (r *decoder) uvarint(max uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > max {
		r.invalid = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *decoder) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.invalid = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *decoder) byte() byte {
	if len(r.b) == 0 {
		r.invalid = true
		return 0
	}
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

func (r *decoder) addr() netip.Addr {
	n := int(r.uvarint(16))
	if n > len(r.b) {
		r.invalid = true
		return netip.Addr{}
	}
	a, ok := netip.AddrFromSlice(r.b[:n])
	r.b, r.invalid = r.b[n:], r.invalid || !ok
	return a
}

// NewDecoder returns a function like Decode with a RulesPool of its own.
func NewDecoder() func(b []byte) (State, error) {
	pool := NewRulesPool(0)
	return func(b []byte) (State, error) { return Decode(b, pool) }
}

// Decode reads a State that Append wrote. It borrows b. Equal rules are shared through pool. The error wraps that of
// robots.Decode if the rules are invalid.
func Decode(b []byte, pool *RulesPool) (State, error) {
	if len(b) < 4 || b[0] < siteVersion2 || b[0] > siteVersion {
		return State{}, errInvalid
	}
	flags := b[1]
	s := State{
		HasAnswered: flags&flagHasAnswered != 0, DenyAll: flags&flagDenyAll != 0, Blocked: flags&flagBlocked != 0,
		CutsBodies:  flags&flagCutsBodies != 0,
		DeadOutcome: outcome.Outcome(b[2]), RobotsTries: int8(b[3]), HasServedRoot: flags&flagHasServedRoot != 0,
	}
	switch {
	case flags&flagHTTP1Answered != 0:
		s.HTTP2 = HTTP1Answered
	case flags&flagHTTP2Probed != 0:
		s.HTTP2 = HTTP2Probed
	}
	r := decoder{b: b[4:]}
	s.Stored = int32(min(r.varint(), math.MaxInt32))
	s.Failures = int16(r.varint())
	t := r.failureStreak(b[0])
	if b[0] > siteVersion2 {
		s.Slowdown = politeness.Slowdown(r.byte())
	}
	if b[0] > siteVersion4 {
		s.Errors = uint16(r.uvarint(math.MaxUint16))
		s.KiB = uint32(r.uvarint(math.MaxUint32))
	}
	if b[0] > siteVersion6 {
		s.Requisites, s.DeepRequisites = RequisiteCount(r.uvarint(math.MaxUint32)), r.byte()
	}
	s.RulesUntil = uint32(r.uvarint(math.MaxUint32))
	s.addrUntil = r.varint()
	if n := r.uvarint(AddrsMax); n > 0 && !r.invalid {
		addrs := make([]netip.Addr, 0, min(n, 16))
		for ; n > 0 && !r.invalid; n-- {
			addrs = append(addrs, r.addr())
		}
		s.SetAddrsAndFailures(addrs, t)
	} else {
		s.SetAddrsAndFailures(nil, t)
	}
	if r.invalid || (flags&flagHasRules == 0) != (len(r.b) == 0) {
		return State{}, errInvalid
	}
	if flags&flagHasRules != 0 {
		var err error
		if s.Rules, err = pool.Decode(r.b); err != nil {
			return State{}, errors.Join(errInvalid, err)
		}
	}
	if b[0] < siteVersion4 { // older versions have no flag; rules, pages and slow-down requests come from an answer
		s.HasAnswered = s.Rules != nil || s.Stored > 0 || s.Failures < 0
	}
	return s, nil
}

// unixNano returns t in Unix nanoseconds, and 0 for the zero time.
func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// Merge adds what another agent knew about the site, after a handoff. The rules of known are valid for life more. Where
// both states know something, the stricter value wins, so Merge is idempotent and may run late.
func (s *State) Merge(known *State, life time.Duration, now time.Time) {
	if !s.HasAnswered && s.FailureStreak() == (FailureStreak{}) { // otherwise this agent has newer information
		s.SetFailureStreak(known.FailureStreak())
	}
	s.HasAnswered, s.HasServedRoot = s.HasAnswered || known.HasAnswered, s.HasServedRoot || known.HasServedRoot
	switch known.HTTP2 {
	case NoHTTP2Probe, HTTP2Answered, HTTP2Failed:
	case HTTP1Answered:
		s.HTTP2 = HTTP1Answered
	default:
		s.HTTP2 = HTTP2Probed
	}
	s.dropExpiredRules(now)
	until := now.Add(min(life, RobotsLifetime))
	switch {
	case known.Rules != nil && life > 0 && (s.Rules == nil || until.Unix() > int64(s.RulesUntil)):
		s.SetRules(known.Rules, until)
		s.RobotsTries, s.DenyAll = max(known.RobotsTries, 0), false
	case s.Rules == nil:
		s.RobotsTries = max(s.RobotsTries, min(known.RobotsTries, RobotsTriesMax))
		s.DenyAll = s.DenyAll || known.DenyAll
	}
	s.Stored = max(s.Stored, known.Stored)
	if abs := func(n int16) int { return max(int(n), -int(n)) }; abs(known.Failures) > abs(s.Failures) {
		s.Failures = known.Failures
	}
	s.Slowdown = max(s.Slowdown, known.Slowdown)
	s.Errors, s.KiB = max(s.Errors, known.Errors), max(s.KiB, known.KiB)
	mergeRequisites(s, known)
}

// CountExchange counts an exchange with the site for its operator: received bytes, and whether it failed.
func CountExchange(s *State, o outcome.Outcome, received int64) {
	kib := (received + 1023) >> 10
	s.KiB = uint32(min(int64(s.KiB)+kib, math.MaxUint32))
	switch o.Class() {
	case outcome.ClassBusy, outcome.ClassFault, outcome.ClassHost:
		s.Errors = min(s.Errors, math.MaxUint16-1) + 1
	default:
	}
}

// CountStored counts a stored page.
func CountStored(s *State) { s.Stored += min(1, math.MaxInt32-s.Stored) }

// UnixSeconds returns t in Unix seconds, within the range of uint32.
func UnixSeconds(t time.Time) uint32 { return uint32(min(max(t.Unix(), 0), math.MaxUint32)) }

// logIn is the log-in or consent page to which most URLs of a site redirect, and by how many they outnumber those that
// redirect to another one.
type logIn struct {
	target uint32 // a hash
	count  uint8
}

func logInOf(s *State) logIn {
	if s.rare == nil {
		return logIn{}
	}
	return s.rare.logIn
}

// logInLeast is how many URLs for each stored page must redirect to one log-in page to show that the site has nothing
// else for this crawler.
const logInLeast = 5

// NoteLogIn records that a URL redirects to the log-in or consent page with a hash. It reports whether the site has
// nothing else: at least logInLeast URLs redirect there, and as many for each page that the site has served. Each URL
// must be noted once. The count ends there, so pages that are served later change the answer.
func NoteLogIn(s *State, target uint32) bool {
	r, least := logInOf(s), logInLeast*max(int(s.Stored), 1)
	switch {
	case least > math.MaxUint8:
		return false
	case r.target != target && r.count > 0:
		r.count--
	case r.target != target:
		r = logIn{target: target, count: 1}
	case int(r.count) < least:
		r.count++
	}
	rare := rareFacts{}
	if s.rare != nil {
		rare = *s.rare
	}
	rare.logIn = r
	s.rare = &rare
	return r.target == target && int(r.count) >= least
}

// Moment is a time in four bytes: milliseconds modulo 49 days. The zero value is no time.
type Moment uint32

// MomentOf is the Moment of a time.
func MomentOf(t time.Time) Moment { return max(Moment(t.UnixMilli()), 1) }

// Until is how long it is from a Moment to a time; false if the Moment is none.
func (m Moment) Until(t time.Time) (time.Duration, bool) {
	return time.Duration(Moment(t.UnixMilli())-m) * time.Millisecond, m != 0
}

const (
	aheadMax = 200 // requisites of pages that precede other pages, unless paid for
	pagePays = 100 // of these, for which each page pays
	deepMax  = 100 // requisites of style sheets and frames that precede pages, unless paid for. Two pages pay for one

	totalShift = 8
	totalMax   = 1<<(32-totalShift) - 1
)

// RequisiteCount has two numbers of page requisites that a site was asked for. The high 24 bits are all of them. The
// low 8 bits are those of pages that no page has paid for. Each stops at its limit. There is one for each known site.
type RequisiteCount uint32

// Total returns the number of all requisites.
func (c RequisiteCount) Total() int { return int(c >> totalShift) }

func (c RequisiteCount) ahead() uint32 { return uint32(c & (1<<totalShift - 1)) }

func newRequisiteCount(total int, ahead uint32) RequisiteCount {
	return RequisiteCount(min(total, totalMax)<<totalShift) | RequisiteCount(min(ahead, aheadMax))
}

// CountRequisite counts a page requisite that is so many embed hops from its page. Pages pay for their own requisites,
// and hardly for what a style sheet or a frame needs: one page can lead to any number of those.
func CountRequisite(s *State, embeds int) {
	ahead := s.Requisites.ahead()
	if embeds == 1 {
		ahead++
	} else {
		s.DeepRequisites = min(s.DeepRequisites+2, 2*deepMax)
	}
	s.Requisites = newRequisiteCount(s.Requisites.Total()+1, ahead)
}

// CountPage counts a stored page that is no requisite: it pays for requisites.
func CountPage(s *State) {
	s.Requisites = newRequisiteCount(s.Requisites.Total(), max(s.Requisites.ahead(), pagePays)-pagePays)
	s.DeepRequisites = max(s.DeepRequisites, 1) - 1
}

// MayPrecede reports whether a requisite that is so many embed hops from its page may precede the pages of a site,
// beside a number of requisites that wait already.
func MayPrecede(s *State, embeds, waiting int) bool {
	if embeds == 1 {
		return int(s.Requisites.ahead())+waiting < aheadMax
	}
	return int(s.DeepRequisites)/2+waiting < deepMax
}

// mergeRequisites takes the larger numbers of two states of a site.
func mergeRequisites(s, known *State) {
	a, b := s.Requisites, known.Requisites
	s.Requisites = newRequisiteCount(max(a.Total(), b.Total()), max(a.ahead(), b.ahead()))
	s.DeepRequisites = max(s.DeepRequisites, known.DeepRequisites)
}
