package filter

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// HostSettings is what HostRules say about one host. The zero value has no settings.
type HostSettings struct {
	HostDelay  time.Duration // host delay, if HasDelay
	MaxPerHost int           // limit of stored pages, 0 for none, if HasCap
	HasDelay   bool
	HasCap     bool
	Exclude    bool

	Timeouts     HostTimeouts  // in place of those of the crawl, if not 0
	Bandwidth    int64         // bytes per second, 0 for the limit of all hosts, if a rule has it
	Group        string        // name of the group of hosts that share a delay; "" for none
	GroupDelay   time.Duration // between two requests to the group, as this rule has it
	UserAgent    string        // header User-Agent; "" for that of the crawl
	NotBefore    time.Time     // no request before it; zero for none
	IgnoreRobots bool          // robots.txt forbids nothing
	RobotsReason string        // why IgnoreRobots

	ranks [termKeys]int16 // precedence of the rule that set each key, 0 if none did
	from  [termKeys]int32 // number of that rule, from 0
}

// The keys of a rule.
const (
	termDelay = iota
	termCap
	termExclude
	termAgent
	termRobots
	termBandwidth
	termGroup
	termConnect
	termResponse
	termExchange
	termSlow
	termNotBefore
	termKeys
)

// HostDelayMax is the largest host-delay of a rule.
const HostDelayMax = 24 * time.Hour

// HostRules are settings for single hosts, in place of the general ones. All but Grow only reads them.
//
// A rule is a host as in HostSet, followed by one or more of
//
//	host-delay=10s      host delay
//	max-per-host=1000   limit of stored pages, 0 for none
//	not-before=2027-01-31T12:00:00Z   no request before this time
//	exclude             fetch nothing; exclude=no allows a host that a wider rule excludes
//	user-agent="TEXT"   header User-Agent
//	group=NAME group-delay=10s   the hosts with this name share one connection and one delay
//	host-bandwidth=100KiB/s   bytes per second that are received from the host
//	connect-timeout=5s response-timeout=1m slow-body-timeout=10m exchange-timeout=1h   time limits of requests
//	robots=ignore reason="TEXT"   robots.txt forbids nothing; robots=obey undoes a wider rule
//
// The line "group NAME: HOST... delay=10s" stands for a rule with group and group-delay for each of the hosts.
//
// Of several matching rules with a key, the narrowest one counts: the longest name or prefix; for the same name,
// example.org before *.example.org before .example.org.
//
// The zero value has no rules.
type HostRules struct {
	rules     []*hostRule
	names     labelTrie
	at        []nodeRules // by node of names
	blocks    map[netip.Prefix]*int32
	lengths   []int // prefix lengths in blocks, ascending
	excluding int   // number of rules that exclude
}

// nodeRules are the numbers, plus one, of the rules for a name; 0 for none.
type nodeRules struct{ self, all, below int32 }

// hostRule is a parsed rule.
type hostRule struct {
	rule
	terms  HostSettings
	keys   [termKeys]bool
	places [termKeys]int32 // the number of the text that has set each key
}

// CompileHostRules compiles rules. The error joins all faults, each with its place. A range of addresses is a fault:
// rules are looked up before names are resolved, so it would not match the names that resolve into it.
func CompileHostRules(from Rules) (*HostRules, error) { return compileHostRules(from, false) }

// CompileKeptHostRules is CompileHostRules for the rules in a crawl directory. They may contain ranges, which older
// versions accepted.
func CompileKeptHostRules(from Rules) (*HostRules, error) { return compileHostRules(from, true) }

func compileHostRules(from Rules, ranges bool) (*HostRules, error) {
	r := new(HostRules)
	err := from.Each(func(i int, text string) error {
		rules, err := readHostRules(text)
		for _, one := range rules {
			if err == nil && !ranges {
				err = one.refuseRange()
			}
			if err != nil {
				break
			}
			if number := *r.numberOf(&one); number > 0 && !r.rules[number-1].mayJoin(one) {
				err = fmt.Errorf("%w: %q: there is a rule for it already, %s", ErrRule, one.pattern(),
					from.Where(r.rules[number-1].place()))
				break
			}
			for key := range one.places {
				one.places[key] = int32(i)
			}
			r.add(&one)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Grow adds rules, at a cost that does not depend on how many there are. A later rule for the same hosts replaces the
// keys that it has. Invalid texts are omitted, and joined in the error.
func (r *HostRules) Grow(texts ...string) (taken int, err error) {
	for _, text := range texts {
		rules, fault := readHostRules(strings.TrimSpace(text))
		for _, one := range rules {
			fault = errors.Join(fault, one.refuseRange())
		}
		if fault != nil {
			err = errors.Join(err, fault)
			continue
		}
		taken++
		for _, one := range rules {
			r.add(&one)
		}
	}
	return taken, err
}

// add adds a rule, to the one for the same hosts if there is one.
func (r *HostRules) add(one *hostRule) {
	number := r.numberOf(one)
	if *number == 0 {
		r.rules = append(r.rules, &hostRule{rule: one.rule})
		*number = int32(len(r.rules))
	}
	was := r.rules[*number-1]
	if was.terms.Exclude {
		r.excluding--
	}
	*was = was.with(*one)
	if was.terms.Exclude {
		r.excluding++
	}
}

// numberOf returns the place of the number, plus one, of the rule for the same hosts; 0 if there is none.
func (r *HostRules) numberOf(one *hostRule) *int32 {
	if r.blocks == nil {
		r.names, r.at, r.blocks = newLabelTrie(), make([]nodeRules, 1), map[netip.Prefix]*int32{}
	}
	if one.net.IsValid() {
		if r.blocks[one.net] == nil {
			r.blocks[one.net] = new(int32)
		}
		if at, found := slices.BinarySearch(r.lengths, one.net.Bits()); !found {
			r.lengths = slices.Insert(r.lengths, at, one.net.Bits())
		}
		return r.blocks[one.net]
	}
	node, name := uint32(0), []byte(one.name)
	for dot := 0; dot >= 0; name = name[:max(dot, 0)] {
		dot = bytes.LastIndexByte(name, '.')
		node = r.names.grow(node, name[dot+1:])
	}
	r.at = append(r.at, make([]nodeRules, len(r.names.nodes)-len(r.at))...)
	switch {
	case one.self && one.below:
		return &r.at[node].all
	case one.below:
		return &r.at[node].below
	default:
		return &r.at[node].self
	}
}

// Len returns the number of rules.
func (r *HostRules) Len() int { return len(r.rules) }

// Excludes reports whether a rule excludes hosts.
func (r *HostRules) Excludes() bool { return r.excluding > 0 }

// Delays reports whether a rule has a host delay.
func (r *HostRules) Delays() bool {
	return slices.ContainsFunc(r.rules, func(one *hostRule) bool { return one.terms.HasDelay })
}

// Ranges reports whether a rule is for a range of addresses. It matches URLs whose host is an address, and no names.
func (r *HostRules) Ranges() bool {
	return slices.ContainsFunc(r.rules, func(one *hostRule) bool { return one.isRange() && !one.isGroupOnly() })
}

func (r *rule) isRange() bool { return r.net.IsValid() && !r.net.IsSingleIP() }

func (r *hostRule) refuseRange() error {
	if !r.isRange() || r.isGroupOnly() {
		return nil
	}
	return fmt.Errorf(
		"%w: %q: a rule for a range of addresses would not fit the names that resolve into it: name hosts or single "+
			"addresses, "+
			"or use --deny-net to stay away from a range and --ip-delay for the delay of each address",
		ErrRule,
		r.pattern(),
	)
}

// Texts returns the rules in their normal form, which CompileHostRules can read.
func (r *HostRules) Texts() []string {
	var texts []string
	for _, one := range r.rules {
		texts = append(texts, one.String())
	}
	return texts
}

// Find adds the settings of a host, a normal form (borrowed), to t. t may contain settings of other rules, which these
// override. It does not allocate for names.
func (r *HostRules) Find(host []byte, t *HostSettings) {
	host = withoutDot(host)
	if isAddress(host) || bytes.IndexByte(host, ':') >= 0 {
		r.findAddr(host, t)
		return
	}
	if len(r.names.nodes) < 2 {
		return
	}
	node, rank := uint32(0), int16(0)
	for name := host; ; {
		dot := bytes.LastIndexByte(name, '.')
		if node = r.names.child(node, name[dot+1:]); node == 0 {
			return
		}
		rank += 3
		at := &r.at[node]
		r.say(at.all, rank, t)
		if dot < 0 {
			r.say(at.self, rank+2, t)
			return
		}
		r.say(at.below, rank+1, t)
		name = name[:dot]
	}
}

// Allows reports whether the narrowest rule of the host with exclude says exclude=no.
func (t *HostSettings) Allows() bool { return t.ranks[termExclude] > 0 && !t.Exclude }

// Matches reports whether a rule is for a host, a normal form (borrowed).
func (r *HostRules) Matches(host []byte) bool {
	var t HostSettings
	r.Find(host, &t)
	return t.ranks != [termKeys]int16{}
}

func (r *HostRules) findAddr(host []byte, t *HostSettings) {
	addr, err := netip.ParseAddr(string(bytes.Trim(host, "[]")))
	if err != nil {
		return
	}
	r.FindAddr(addr, t)
}

// say copies the settings of a rule into t, unless a narrower rule has set them. number is that of the rule plus one,
// or 0.
func (r *HostRules) say(number int32, rank int16, t *HostSettings) {
	if number == 0 {
		return
	}
	one := r.rules[number-1]
	for key, has := range one.keys {
		if !has || rank < t.ranks[key] {
			continue
		}
		t.ranks[key], t.from[key] = rank, number-1
		t.copy(key, &one.terms)
	}
}

// Explain returns the settings of a host as text, each with its rule and the rule's place; "" if there are none.
func (r *HostRules) Explain(host []byte, from Rules) string {
	var t HostSettings
	r.Find(host, &t)
	var says []string
	for key, rank := range t.ranks {
		if rank > 0 {
			one := r.rules[t.from[key]]
			says = append(says, fmt.Sprintf("%s (%s, %s)", one.term(key), one.pattern(), from.Where(int(one.places[key]))))
		}
	}
	return strings.Join(says, "; ")
}

// copy takes the value of one key from other settings.
func (t *HostSettings) copy(key int, from *HostSettings) {
	switch key {
	case termDelay:
		t.HostDelay, t.HasDelay = from.HostDelay, true
	case termCap:
		t.MaxPerHost, t.HasCap = from.MaxPerHost, true
	case termGroup:
		t.Group, t.GroupDelay = from.Group, from.GroupDelay
	case termBandwidth:
		t.Bandwidth = from.Bandwidth
	case termConnect, termResponse, termExchange, termSlow:
		*t.Timeouts.of(key) = *from.Timeouts.of(key)
	case termAgent:
		t.UserAgent = from.UserAgent
	case termNotBefore:
		t.NotBefore = from.NotBefore
	case termRobots:
		t.IgnoreRobots, t.RobotsReason = from.IgnoreRobots, from.RobotsReason
	default:
		t.Exclude = from.Exclude
	}
}

// Delay returns the host delay, or nil. The result points into t.
func (t *HostSettings) Delay() *time.Duration {
	if !t.HasDelay {
		return nil
	}
	return &t.HostDelay
}

// with returns r, overridden by later.
func (r hostRule) with(later hostRule) hostRule {
	for key, has := range later.keys {
		if !has {
			continue
		}
		r.keys[key], r.places[key] = true, later.places[key]
		r.terms.copy(key, &later.terms)
	}
	return r
}

// String returns the rule in its normal form.
func (r hostRule) String() string {
	text := r.pattern()
	for key, has := range r.keys {
		if has {
			text += " " + r.term(key)
		}
	}
	return text
}

// pattern returns the host of a rule in its normal form.
func (r *rule) pattern() string {
	switch {
	case r.net.IsValid():
		return r.net.String()
	case r.self && r.below:
		return "." + r.name
	case r.below:
		return "*." + r.name
	default:
		return r.name
	}
}
