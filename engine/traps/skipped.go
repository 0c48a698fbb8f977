package traps

import (
	"encoding/binary"
	"errors"
	"fmt"

	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/traps/novelty"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize/diskq"
)

// Rule is why a URL is left out.
type Rule byte

// The rules. Their numbers are on disk.
const (
	RuleNone         Rule = iota
	RuleEndlessPart       // a part of a site repeats itself, and has ever more URLs
	RuleEndlessSites      // the same of the sites of a domain
	RulePathRepeats       // the path repeats the same folders more often than --max-path-repeats
	// RuleRequisitesOfPage: the page needs more requisites than --max-requisites-per-page.
	RuleRequisitesOfPage
	// RuleRequisitesOfSite: the site has more requisites than the pages of the crawl entitle it to.
	RuleRequisitesOfSite
	RuleCount
)

// The counters have a place for each rule.
const _ = uint(counters.SkipRulesMost - int(RuleCount))

// SkippedCounts are numbers of URLs left out, by rule.
type SkippedCounts [RuleCount]int64

func (r Rule) String() string {
	switch r {
	case RuleEndlessPart:
		return "endless-part"
	case RuleEndlessSites:
		return "endless-sites"
	case RulePathRepeats:
		return "path-repeats"
	case RuleRequisitesOfPage:
		return "requisites-per-page"
	case RuleRequisitesOfSite:
		return "requisites-per-site"
	default:
		return fmt.Sprintf("rule-%d", byte(r))
	}
}

// MarshalText makes the rule its name in JSON.
func (r Rule) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// SkippedList is the list of URLs that were left out, on disk. An entry is
//
//	version (1)  rule (1)  level, fetched, streak, led of novelty.Evidence (uvarints)  Item with its whole URL
//
// Version 1 has no led.
//
// When a crawl goes on with a setting that leaves out less, what the list has at that moment is queued again, in order,
// and leaves the list; what is left out meanwhile follows behind. It belongs to the distributor; a checkpoint marks it.
type SkippedList struct {
	Queue        *diskq.Queue
	RequeueCount uint64 // entries that will be queued again
	// RequeueExcess says that --max-requisites-per-page was raised, so entries of RuleRequisitesOfPage are wanted now.
	RequeueExcess bool
	added         []byte // an entry on its way to the list
	read          []byte // and one on its way back
}

const (
	skipVersion      = 2
	skipVersionNoLed = 1
)

// SkipSettings are what decides which URLs are left out.
type SkipSettings struct {
	Floor   int `json:"floor"`   // 0 if nothing is delayed
	Repeats int `json:"repeats"` // 0 for no limit
	// Requisites of one page; 0 or less for no limit, 0 in lists of versions that had none.
	Requisites int `json:"requisites,omitempty"`
}

// LeavesLess says that something may be fetched that was left out before.
func (s SkipSettings) LeavesLess(before SkipSettings) bool {
	return before.Floor > 0 && (s.Floor == 0 || s.Floor > before.Floor) ||
		before.Repeats > 0 && (s.Repeats == 0 || s.Repeats > before.Repeats) || s.takesMoreRequisites(before)
}

func (s SkipSettings) takesMoreRequisites(before SkipSettings) bool {
	return before.Requisites > 0 && (s.Requisites <= 0 || s.Requisites > before.Requisites)
}

// SkippedCheckpoint is the list in the manifest.
type SkippedCheckpoint struct {
	Queue        diskq.Checkpoint `json:"queue"`
	RequeueCount uint64           `json:"again,omitempty"`
	// RequeueExcess: see List
	RequeueExcess bool         `json:"excess_again,omitempty"`
	Settings      SkipSettings `json:"settings"`
}

// OpenSkipped opens the list at a checkpoint; nil for a new one.
func OpenSkipped(fsys vfs.FS, dir string, checkpoint *SkippedCheckpoint, now SkipSettings) (*SkippedList, error) {
	var queue *diskq.Checkpoint
	if checkpoint != nil {
		queue = &checkpoint.Queue
	}
	q, err := diskq.Open(fsys, diskq.Options{Dir: dir + "/" + layout.SkippedName}, queue)
	if err != nil {
		return nil, err
	}
	l := &SkippedList{Queue: q}
	if checkpoint != nil {
		if l.RequeueCount = checkpoint.RequeueCount; now.LeavesLess(checkpoint.Settings) {
			l.RequeueCount = q.Len()
		}
		l.RequeueExcess = checkpoint.RequeueExcess && l.RequeueCount > 0 || now.takesMoreRequisites(checkpoint.Settings)
	}
	return l, nil
}

// Add appends a URL, the Rest of an item.
func (l *SkippedList) Add(it *queued.URL, rule Rule, why novelty.Evidence) error {
	b := append(l.added[:0], skipVersion, byte(rule))
	for _, n := range []int{why.Level, why.Fetched, why.Streak, why.Found} {
		b = binary.AppendUvarint(b, uint64(max(n, 0)))
	}
	l.added = queued.Append(b, it)
	if err := l.Queue.Append(l.added); err != nil {
		return fmt.Errorf("skipped: list of URLs left out: %w", err)
	}
	return nil
}

// Next takes the oldest entry, to be queued again. The item is good until the next call.
func (l *SkippedList) Next() (item []byte, rule Rule, err error) {
	b, ok, err := l.Queue.Read(l.read[:0])
	if err != nil {
		return nil, 0, fmt.Errorf("skipped: list of URLs left out: %w", err)
	}
	if !ok {
		panic("BUG: skipped: the list of URLs left out is shorter than what must be queued again")
	}
	l.read = b
	l.RequeueCount--
	s, item, err := DecodeSkipped(b)
	if err != nil {
		return nil, 0, err
	}
	return item, s.Rule, nil
}

// Checkpoint marks the list.
func (l *SkippedList) Checkpoint(now SkipSettings) (*SkippedCheckpoint, error) {
	c, err := l.Queue.Checkpoint()
	if err != nil {
		return nil, err
	}
	return &SkippedCheckpoint{Queue: c, RequeueCount: l.RequeueCount, RequeueExcess: l.RequeueExcess, Settings: now}, nil
}

// SkippedURL is a URL that was left out.
type SkippedURL struct {
	URL      string           `json:"url"`
	Rule     Rule             `json:"rule"`
	Evidence novelty.Evidence `json:"evidence"`
	Depth    int              `json:"depth"` // links from a seed
}

const ledToMore = ", %d were found meanwhile; the last %d repeated others and led to as many new ones"

// Because is the evidence in words.
func (s *SkippedURL) Because() string {
	switch s.Rule {
	case RulePathRepeats:
		return "the path repeats itself"
	case RuleRequisitesOfPage:
		return "its page, frame or style sheet needs more requisites than --max-requisites-per-page"
	case RuleRequisitesOfSite:
		return fmt.Sprintf("the site has %d requisites already, and the crawl has stored few pages", s.Evidence.Fetched)
	default:
	}
	e := &s.Evidence
	if s.Rule == RuleEndlessSites {
		return fmt.Sprintf("%d sites of the domain were fetched late"+ledToMore, e.Fetched, e.Found, e.Streak)
	}
	return fmt.Sprintf("%d URLs of this part of the site (level %d) were fetched late"+ledToMore, e.Fetched, e.Level,
		e.Found, e.Streak)
}

var errSkipped = errors.New("skipped: an entry of the list of URLs left out cannot be read")

// DecodeSkipped reads an entry. It borrows b.
func DecodeSkipped(b []byte) (s SkippedURL, item []byte, err error) {
	if len(b) < 2 || b[0] != skipVersion && b[0] != skipVersionNoLed || b[1] == 0 || Rule(b[1]) >= RuleCount {
		return s, nil, errSkipped
	}
	numbers := []*int{&s.Evidence.Level, &s.Evidence.Fetched, &s.Evidence.Streak, &s.Evidence.Found}
	if b[0] == skipVersionNoLed {
		numbers = numbers[:3]
	}
	s.Rule, b = Rule(b[1]), b[2:]
	for _, to := range numbers {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > 1<<40 {
			return s, nil, errSkipped
		}
		*to, b = int(v), b[n:]
	}
	it, ok := queued.Decode(b)
	if !ok {
		return s, nil, errSkipped
	}
	s.URL, s.Depth = string(it.Rest), it.Depth
	return s, b, nil
}
