package engine

import (
	"encoding/binary"
	"errors"
	"math"
	"net/netip"
	"slices"
	"time"

	"orbweaver/engine/outcome"
	"orbweaver/engine/politeness"
	"orbweaver/engine/robots"
)

// Site is what the engine keeps about one scheme+authority. The workbench holds it without looking inside; whoever
// holds the Visit has a copy, and brings it back with the Visit. There are as many as known hosts: what few need is behind
// a pointer, and times are numbers.
type Site struct {
	Rules      *robots.Rules // nil until robots.txt has been asked for; shared: see rulesPool
	rare       *rareFacts    // nil for none; shared by copies of the Site, so it is replaced and never changed
	addrUntil  int64         // when the name is to be resolved again, in Unix ns; 0 for never
	rulesUntil uint32        // when the rules are to be asked for again (RFC 9309: 24 h at most), in Unix s
	Stored     int32         // pages stored, for --max-per-host
	Failures   int16         // consecutive failures of exchanges
	Strain     politeness.Strain
	RobotsTry  int8            // attempts at robots.txt since the last success
	Answered   bool            // the server has given an answer at some time (trouble.go)
	ServesRoot bool            // the root page was answered at some time, which proves that the site serves pages if it is again
	Denied     bool            // Rules say no because robots.txt cannot be had
	Blocked    bool            // by the operator
	Fate       outcome.Outcome // why it was given up
}

// rareFacts are what the engine keeps of few sites only.
type rareFacts struct {
	addrs   []netip.Addr // of the name, the one in use first; nil if it has but one, which is the key that the site is placed under
	trouble trouble      // zero for a site that answers
}

// addrs are the addresses of the name, the one in use first; nil if it has but one, which is the key that the site is placed under. They are not changed.
func (s *Site) addrs() []netip.Addr {
	if s.rare == nil {
		return nil
	}
	return s.rare.addrs
}

// setRare replaces the rare facts.
func (s *Site) setRare(addrs []netip.Addr, t trouble) {
	if s.rare = nil; addrs != nil || t != (trouble{}) {
		s.rare = &rareFacts{addrs, t}
	}
}

// setRules takes rules that hold until then.
func (s *Site) setRules(rules *robots.Rules, until time.Time) {
	s.Rules = rules
	s.rulesUntil = uint32(min(max(until.Unix(), 0), math.MaxUint32))
}

// lacksRules says that the rules are to be asked for before anything else: there are none, or they end soon and it is time for the
// next try.
func (s *Site) lacksRules(now time.Time) bool {
	s.dropRules(now)
	return s.Rules == nil || now.Add(robotsEarly-time.Duration(s.RobotsTry)*robotsAgain).Unix() >= int64(s.rulesUntil)
}

// dropRules drops rules that hold no more, and the count of tries with them. Those that would hold for longer than any do were fetched
// before the clock was set back: how old they are is not known.
func (s *Site) dropRules(now time.Time) {
	if s.Rules == nil || now.Unix() < int64(s.rulesUntil) && int64(s.rulesUntil) <= now.Add(robotsLife+time.Minute).Unix() {
		return
	}
	s.Rules, s.RobotsTry = nil, 0
}

// setAddrs takes the addresses of the name, of which the first is used, and what they are good for: zero for ever. The site is placed under key.
func (s *Site) setAddrs(addrs []netip.Addr, key netip.Addr, until time.Time) {
	addrs, s.addrUntil = addrs[:min(len(addrs), siteAddrsMax)], unixNano(until)
	if len(addrs) < 2 && addrs[0] == key {
		addrs = nil
	}
	s.setRare(addrs, s.trouble())
}

// connectTo is the address in use of a site that is placed under key.
func (s *Site) connectTo(key netip.Addr) netip.Addr {
	if addrs := s.addrs(); len(addrs) > 0 {
		return addrs[0]
	}
	return key
}

// addrsStale says that the name is to be resolved again, as lacksRules does of rules. No answer is good for a day.
func (s *Site) addrsStale(now time.Time) bool {
	return s.addrUntil != 0 && (now.UnixNano() > s.addrUntil || s.addrUntil > now.Add(robotsLife).UnixNano())
}

// addrCount is how many addresses the name has.
func (s *Site) addrCount() int {
	return max(len(s.addrs()), 1)
}

// turnAddr puts the address in use behind the others, and returns the next one. There must be more than one.
func (s *Site) turnAddr() netip.Addr {
	all := s.addrs()
	turned := append(slices.Clone(all[1:]), all[0])
	s.setRare(turned, s.trouble())
	return turned[0]
}

// siteAddrsMax is how many addresses a site has at most: the snapshot's reader takes no more.
const siteAddrsMax = 1024

const (
	siteVersion    = 4
	siteTroubled   = 3 // the version before: without Answered and without most of the trouble
	siteUnstrained = 2 // before that: without the strain
)

// The flags of a Site's snapshot form.
const (
	siteHasRules = 1 << iota
	siteDenied
	siteBlocked
	siteAnswered
	siteServesRoot
)

// NewSite is a site whose robots.txt and name are known, for who measures what sites cost.
func NewSite(rules *robots.Rules, rulesUntil, addrUntil time.Time) Site {
	var s Site
	s.setRules(rules, rulesUntil)
	s.addrUntil = unixNano(addrUntil)
	return s
}

// AppendSite appends the snapshot form of a Site.
func AppendSite(dst []byte, s *Site) []byte {
	var flags byte
	if s.Rules != nil {
		flags |= siteHasRules
	}
	if s.Denied {
		flags |= siteDenied
	}
	if s.Blocked {
		flags |= siteBlocked
	}
	if s.Answered {
		flags |= siteAnswered
	}
	if s.ServesRoot {
		flags |= siteServesRoot
	}
	t := s.trouble()
	dst = append(dst, siteVersion, flags, byte(s.Fate), byte(s.RobotsTry))
	dst = binary.AppendVarint(dst, int64(s.Stored))
	dst = binary.AppendVarint(dst, int64(s.Failures))
	dst = t.append(dst)
	dst = append(dst, byte(s.Strain))
	dst = binary.AppendUvarint(dst, uint64(s.rulesUntil))
	dst = binary.AppendVarint(dst, s.addrUntil)
	dst = binary.AppendUvarint(dst, uint64(len(s.addrs())))
	for _, a := range s.addrs() {
		b := a.AsSlice()
		dst = append(append(dst, byte(len(b))), b...)
	}
	if s.Rules != nil {
		dst = s.Rules.Append(dst)
	}
	return dst
}

var errSite = errors.New("engine: a site of the snapshot cannot be read")

// siteForm reads the numbers of a Site's snapshot form. Its first fault sticks.
type siteForm struct {
	b   []byte
	bad bool
}

// uvarint reads a number of at most max.
func (r *siteForm) uvarint(max uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > max {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *siteForm) varint() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *siteForm) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	b := r.b[0]
	r.b = r.b[1:]
	return b
}

func (r *siteForm) addr() netip.Addr {
	n := int(r.uvarint(16))
	if n > len(r.b) {
		r.bad = true
		return netip.Addr{}
	}
	a, ok := netip.AddrFromSlice(r.b[:n])
	r.b, r.bad = r.b[n:], r.bad || !ok
	return a
}

// SiteReader returns what reads the snapshot forms of Sites and holds equal rules once.
func SiteReader() func(b []byte) (Site, error) {
	pool := newRulesPool(0)
	return func(b []byte) (Site, error) { return decodeSite(b, pool) }
}

// decodeSite reads what AppendSite wrote; pool holds equal rules once.
func decodeSite(b []byte, pool *rulesPool) (Site, error) {
	if len(b) < 4 || b[0] < siteUnstrained || b[0] > siteVersion {
		return Site{}, errSite
	}
	flags := b[1]
	s := Site{
		Answered: flags&siteAnswered != 0, Denied: flags&siteDenied != 0, Blocked: flags&siteBlocked != 0,
		Fate: outcome.Outcome(b[2]), RobotsTry: int8(b[3]), ServesRoot: flags&siteServesRoot != 0,
	}
	r := siteForm{b: b[4:]}
	s.Stored = int32(r.varint())
	s.Failures = int16(r.varint())
	t := r.trouble(b[0])
	if b[0] > siteUnstrained {
		s.Strain = politeness.Strain(r.byte())
	}
	s.rulesUntil = uint32(r.uvarint(math.MaxUint32))
	s.addrUntil = r.varint()
	if n := r.uvarint(siteAddrsMax); n > 0 && !r.bad {
		addrs := make([]netip.Addr, 0, min(n, 16))
		for ; n > 0 && !r.bad; n-- {
			addrs = append(addrs, r.addr())
		}
		s.setRare(addrs, t)
	} else {
		s.setRare(nil, t)
	}
	if r.bad || (flags&siteHasRules == 0) != (len(r.b) == 0) {
		return Site{}, errSite
	}
	if flags&siteHasRules != 0 {
		var err error
		if s.Rules, err = pool.decode(r.b); err != nil {
			return Site{}, errors.Join(errSite, err)
		}
	}
	if b[0] < siteVersion { // which did not say so: rules and pages come from an answer
		s.Answered = s.Rules != nil || s.Stored > 0 || s.Failures < 0
	}
	return s, nil
}

// unixNano keeps the zero time zero.
func unixNano(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}
