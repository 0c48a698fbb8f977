package robots

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/zeebo/xxh3"
)

// ErrCorrupt is wrapped by the errors of Decode.
var ErrCorrupt = errors.New("robots: corrupt rules")

// Rules are the rules of one robots.txt for one agent. They are immutable, and safe for concurrent use.
type Rules struct {
	data []byte // the encoded form; never changed
	rule []byte // the part of data with the rules, in order of precedence
}

// Explanation is the decision about a path, with the rule that decided.
type Explanation struct {
	Allowed bool
	// Line is the number of the deciding line, from 1; 0 if no rule decided.
	Line int
	// Rule is the deciding line without comment and outer white space; "" if no rule decided. Then no rule matched
	// (allowed), robots.txt is unreachable, or matching would cost too much (both denied).
	Rule string
}

// The first bytes of the encoded form; see doc.go for the rest.
const (
	formatVersion = 1
	formatDelay   = 2      // of rules with a delay: the number of its line follows it
	flagDenyAll   = 1 << 0 // nothing is allowed, because robots.txt is unreachable
	flagDelay     = 1 << 1 // a crawl delay follows
	flagsKnown    = flagDenyAll | flagDelay
)

// The low bits of a rule's first number, below the length of its pattern.
const (
	ruleAllow = 1 << iota
	ruleText  // the line follows as written, because it is not "Allow: PATTERN" or "Disallow: PATTERN"
	ruleBits  = iota
)

// AllowAll returns rules that allow everything: for a site without a robots.txt.
func AllowAll() *Rules { return mustDecode([]byte{formatVersion, 0, 0, 0, 0}) }

// DenyAll returns rules that allow only /robots.txt: for a site whose robots.txt is unreachable.
func DenyAll() *Rules { return mustDecode([]byte{formatVersion, flagDenyAll, 0, 0, 0}) }

// Allowed reports whether the rules allow path, the path with query of a normal form. It borrows path.
func (r *Rules) Allowed(path []byte) bool {
	allowed, _ := r.decide(path)
	return allowed
}

// Explain is Allowed with the reason. It borrows path.
func (r *Rules) Explain(path []byte) Explanation {
	allowed, at := r.decide(path)
	if at == noRule {
		return Explanation{Allowed: allowed}
	}
	by, _, ok := cutRule(r.rule[at:])
	if !ok {
		panic("BUG: robots: rules have changed since they were checked")
	}
	return Explanation{Allowed: allowed, Line: int(by.line), Rule: by.lineText()}
}

// AppendAllowed is Allowed. It also appends number and text of the deciding line to reason, as "12 Allow: /a"; nothing
// if no rule decided. It borrows path.
func (r *Rules) AppendAllowed(reason, path []byte) (allowed bool, _ []byte) {
	allowed, at := r.decide(path)
	if at == noRule {
		return allowed, reason
	}
	by, _, ok := cutRule(r.rule[at:])
	if !ok {
		panic("BUG: robots: rules have changed since they were checked")
	}
	reason = append(strconv.AppendUint(reason, by.line, 10), ' ')
	if len(by.text) > 0 {
		return allowed, append(reason, by.text...)
	}
	return allowed, by.appendPlain(reason)
}

// decide returns whether path is allowed, and the offset of the deciding rule, or noRule.
func (r *Rules) decide(path []byte) (allowed bool, at int) {
	if string(path) == "/robots.txt" {
		return true, noRule
	}
	if r.data[1]&flagDenyAll != 0 {
		return false, noRule
	}
	if len(r.rule) == 0 {
		return true, noRule
	}
	if isCanonical(path) {
		return firstMatch(r.rule, path)
	}
	var scratch [1024]byte
	if allowed, at = firstMatch(r.rule, appendCanonical(scratch[:0], path)); !allowed {
		return false, at
	}
	return r.decideWritten(path, at)
}

// CrawlDelay returns the Crawl-delay, at least 0 and at most 100 years, and whether there is one. The caller limits it.
func (r *Rules) CrawlDelay() (time.Duration, bool) {
	if r.data[1]&flagDelay == 0 {
		return 0, false
	}
	ms, _ := binary.Uvarint(r.data[2:])
	return time.Duration(ms) * time.Millisecond, true
}

// CrawlDelayLine returns the number of the Crawl-delay line that counts, from 1. It is 0 if there is none, or if the
// rules are from a version that did not keep it.
func (r *Rules) CrawlDelayLine() int {
	_, line, _, _ := cutDelay(r.data)
	return int(line)
}

// cutDelay reads the delay and its line, behind version and flags.
func cutDelay(data []byte) (delay, line uint64, rest []byte, ok bool) {
	delay, rest, ok = cutUvarint(data[2:])
	if ok && data[0] == formatDelay {
		line, rest, ok = cutUvarint(rest)
	}
	return delay, line, rest, ok
}

// Sitemaps returns the sitemap URLs of the file as written, from all groups. The caller owns the slice.
func (r *Rules) Sitemaps() []string {
	_, _, rest, _ := cutDelay(r.data)
	_, rest, _ = cutBytes(rest) // the rules
	n, rest, _ := cutUvarint(rest)
	var all []string
	for range n {
		var s []byte
		s, rest, _ = cutBytes(rest)
		all = append(all, string(s))
	}
	return all
}

// Size returns the memory of the rules in bytes.
func (r *Rules) Size() int {
	const header = 48 // the two slices of a Rules
	return header + cap(r.data)
}

// Append appends the encoded form to dst. Decode reads it.
func (r *Rules) Append(dst []byte) []byte { return append(dst, r.data...) }

// Hash returns a hash of the encoded form. Rules are equal if they have the same rules on the same lines; equal rules
// have equal hashes.
func (r *Rules) Hash() uint64 { return xxh3.Hash(r.data) }

// HashOf returns the Hash of the rules whose encoded form is b.
func HashOf(b []byte) uint64 { return xxh3.Hash(b) }

// HasEncoding reports whether b is the encoded form of r.
func (r *Rules) HasEncoding(b []byte) bool { return bytes.Equal(r.data, b) }

// Equal reports whether r and other have the same encoded form.
func (r *Rules) Equal(other *Rules) bool { return bytes.Equal(r.data, other.data) }

// Decode reads the encoded form of rules from all of b, which it borrows. Its errors wrap ErrCorrupt.
func Decode(b []byte) (*Rules, error) {
	fault := func(what string) (*Rules, error) { return nil, fmt.Errorf("%w: %s", ErrCorrupt, what) }
	if len(b) < 2 || b[0] < formatVersion || b[0] > formatDelay || b[1]&^flagsKnown != 0 {
		return fault("unknown version or flags")
	}
	data := bytes.Clone(b)
	delay, line, rest, ok := cutDelay(data)
	if !ok || delay > delayMaxMs || delay > 0 && b[1]&flagDelay == 0 {
		return fault("delay")
	}
	if line > bodyMax || b[0] == formatDelay && line == 0 {
		return fault("line of the delay")
	}
	rules, rest, ok := cutBytes(rest)
	if !ok {
		return fault("length of the rules")
	}
	for last, left := math.MaxInt, rules; len(left) > 0; {
		var this rule
		if this, left, ok = cutRule(left); !ok || len(this.pattern) > last {
			return fault("rule")
		}
		last = len(this.pattern)
	}
	n, rest, ok := cutUvarint(rest)
	for ; ok && n > 0; n-- {
		_, rest, ok = cutBytes(rest)
	}
	if !ok || len(rest) > 0 {
		return fault("sitemaps")
	}
	return &Rules{data: data, rule: rules}, nil
}

func mustDecode(b []byte) *Rules {
	r, err := Decode(b)
	if err != nil {
		panic("BUG: robots: own encoding refused: " + err.Error())
	}
	return r
}
