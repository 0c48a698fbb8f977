package engine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"orbweaver/engine/novelty"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize/diskq"
)

// skipRule is why a URL is left out.
type skipRule byte

// The rules. Their numbers are on disk.
const (
	skipNone    skipRule = iota
	skipEndless          // a part of a site repeats itself, and has ever more URLs
	skipSites            // the same of the sites of a domain
	skipRepeats          // the path repeats the same folders more often than --max-path-repeats
	skipRules
)

// Skips are numbers of URLs left out, by rule.
type Skips [skipRules]int64

func (r skipRule) String() string {
	switch r {
	case skipEndless:
		return "endless-part"
	case skipSites:
		return "endless-sites"
	case skipRepeats:
		return "path-repeats"
	default:
		return fmt.Sprintf("rule-%d", byte(r))
	}
}

// skipList is the list of URLs that were left out, on disk. An entry is
//
//	version (1)  rule (1)  level, fetched, streak, led of novelty.Evidence (uvarints)  Item with its whole URL
//
// Version 1 has no led.
//
// When a crawl goes on with a setting that leaves out less, what the list has at that moment is queued again, in order, and leaves the
// list; what is left out meanwhile follows behind. It belongs to the distributor; a cut marks it.
type skipList struct {
	queue *diskq.Queue
	again uint64 // entries that are to be queued again
	added []byte // an entry on its way to the list
	read  []byte // and one on its way back
}

const (
	skipVersion      = 2
	skipVersionNoLed = 1
)

// trapSettings are what decides which URLs are left out.
type trapSettings struct {
	Floor   int `json:"floor"`   // 0 if nothing is delayed
	Repeats int `json:"repeats"` // 0 for no limit
}

func (c *Config) trapSettings() trapSettings {
	s := trapSettings{Floor: c.TrapFloor, Repeats: c.MaxPathRepeats}
	if c.NoveltyMemory < 0 {
		s.Floor = 0
	}
	return s
}

// leavesLess says that something may be fetched that was left out before.
func (s trapSettings) leavesLess(before trapSettings) bool {
	return before.Floor > 0 && (s.Floor == 0 || s.Floor > before.Floor) || before.Repeats > 0 && (s.Repeats == 0 || s.Repeats > before.Repeats)
}

// skippedCut is the list in the manifest.
type skippedCut struct {
	Queue    diskq.Cut    `json:"queue"`
	Again    uint64       `json:"again,omitempty"`
	Settings trapSettings `json:"settings"`
}

// openSkipList opens the list at a cut; nil for a new one.
func openSkipList(fsys vfs.FS, dir string, cut *skippedCut, now trapSettings) (*skipList, error) {
	var queue *diskq.Cut
	if cut != nil {
		queue = &cut.Queue
	}
	q, err := diskq.Open(fsys, diskq.Options{Dir: dir + "/" + skippedName}, queue)
	if err != nil {
		return nil, err
	}
	l := &skipList{queue: q}
	if cut != nil {
		if l.again = cut.Again; now.leavesLess(cut.Settings) {
			l.again = q.Len()
		}
	}
	return l, nil
}

const skippedName = "skipped"

// add appends a URL, the Rest of an item.
func (l *skipList) add(it *Item, rule skipRule, why novelty.Evidence) error {
	b := append(l.added[:0], skipVersion, byte(rule))
	for _, n := range []int{why.Level, why.Fetched, why.Streak, why.Led} {
		b = binary.AppendUvarint(b, uint64(max(n, 0)))
	}
	l.added = appendItem(b, it)
	if err := l.queue.Append(l.added); err != nil {
		return fmt.Errorf("engine: list of URLs left out: %w", err)
	}
	return nil
}

// next takes the oldest entry, to be queued again. The item is good until the next call.
func (l *skipList) next() (item []byte, rule skipRule, err error) {
	b, ok, err := l.queue.Read(l.read[:0])
	if err != nil {
		return nil, 0, fmt.Errorf("engine: list of URLs left out: %w", err)
	}
	if !ok {
		panic("BUG: engine: the list of URLs left out is shorter than what is to be queued again")
	}
	l.read = b
	l.again--
	s, item, err := readSkipped(b)
	if err != nil {
		return nil, 0, err
	}
	return item, s.rule, nil
}

// cut marks the list.
func (l *skipList) cut(now trapSettings) (*skippedCut, error) {
	c, err := l.queue.Cut()
	if err != nil {
		return nil, err
	}
	return &skippedCut{Queue: c, Again: l.again, Settings: now}, nil
}

// Skipped is a URL that was left out.
type Skipped struct {
	URL      string           `json:"url"`
	Rule     string           `json:"rule"`
	Evidence novelty.Evidence `json:"evidence"`
	Depth    int              `json:"depth"` // links from a seed

	rule skipRule
}

const ledToMore = ", %d were found meanwhile; the last %d repeated others and led to as many new ones"

// Because is the evidence in words.
func (s *Skipped) Because() string {
	if s.rule == skipRepeats {
		return "the path repeats itself"
	}
	e := &s.Evidence
	if s.rule == skipSites {
		return fmt.Sprintf("%d sites of the domain were fetched late"+ledToMore, e.Fetched, e.Led, e.Streak)
	}
	return fmt.Sprintf("%d URLs of this part of the site (level %d) were fetched late"+ledToMore, e.Fetched, e.Level, e.Led, e.Streak)
}

var errSkipped = errors.New("engine: an entry of the list of URLs left out cannot be read")

// readSkipped reads an entry. It borrows b.
func readSkipped(b []byte) (s Skipped, item []byte, err error) {
	if len(b) < 2 || b[0] != skipVersion && b[0] != skipVersionNoLed || b[1] == 0 || skipRule(b[1]) >= skipRules {
		return s, nil, errSkipped
	}
	numbers := []*int{&s.Evidence.Level, &s.Evidence.Fetched, &s.Evidence.Streak, &s.Evidence.Led}
	if b[0] == skipVersionNoLed {
		numbers = numbers[:3]
	}
	s.rule = skipRule(b[1])
	s.Rule, b = s.rule.String(), b[2:]
	for _, to := range numbers {
		v, n := binary.Uvarint(b)
		if n <= 0 || v > 1<<40 {
			return s, nil, errSkipped
		}
		*to, b = int(v), b[n:]
	}
	it, ok := decodeItem(b)
	if !ok {
		return s, nil, errSkipped
	}
	s.URL, s.Depth = string(it.Rest), it.Depth
	return s, b, nil
}

// EachSkipped calls f for every URL that a crawl has left out, as of its last checkpoint, in order. The crawl may run.
func EachSkipped(fsys vfs.FS, dir string, f func(Skipped) error) error {
	var told uint64
	for tries := 0; ; tries++ {
		m, err := readManifest(fsys, dir+"/"+FrontierDir)
		if err != nil {
			return err
		}
		if m == nil {
			return fmt.Errorf("engine: manifest: %s/%s: %w", dir, ManifestFile, fs.ErrNotExist)
		}
		if m.Skipped == nil || m.Afresh {
			return nil
		}
		at := uint64(0)
		err = diskq.Each(fsys, dir+"/"+SkippedDir, m.Skipped.Queue, func(entry []byte) error {
			if at++; at <= told {
				return nil
			}
			s, _, err := readSkipped(entry)
			if err == nil {
				err = f(s)
			}
			told = at
			return err
		})
		if tries < 3 && errors.Is(err, fs.ErrNotExist) {
			continue // the crawl has queued the oldest ones again, and made a new checkpoint
		}
		return err
	}
}
