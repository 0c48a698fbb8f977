package message

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
)

// SiteMove is a site that moves to another agent, as an item has it. It borrows the item, except for the URLs.
type SiteMove struct {
	Age   time.Duration
	Key   []byte        // scheme and authority
	Due   time.Duration // until the site may be visited; 0 for at once
	State []byte        // the form of Known; empty if nothing is known
	Known site.State
	URLs  []queued.URL // that are queued, each whole
	head  int          // length of the item without its URLs
}

// siteHead is the length of kind, version and age.
const siteHead = 2 + 8

// RulesMax is how large the rules of a robots.txt may be to go along with their site. Larger ones are fetched again.
const RulesMax = 64 << 10

// errSite means that an item is not a site.
var errSite = errors.New("not a site of another agent")

// AppendSite begins an item, to which the queued URLs are appended with outbox.AppendItem. put is when it is put into
// the outbox.
func AppendSite(dst, key []byte, due time.Duration, state []byte, put time.Time) []byte {
	dst = append(dst, Site, version)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(put.UnixNano()))
	dst = queued.AppendBytes(dst, key)
	dst = binary.AppendUvarint(dst, uint64(max(due, 0)))
	return queued.AppendBytes(dst, state)
}

// AppendState appends what is useful to know of a site elsewhere; nothing if nothing is. The new owner resolves the
// name itself, and what an operator said of the site is said to each agent.
func AppendState(dst []byte, s *site.State, now time.Time) []byte {
	known := site.State{
		Stored: s.Stored, Failures: s.Failures, Slowdown: s.Slowdown, RobotsTries: s.RobotsTries,
		HasAnswered: s.HasAnswered, DenyAll: s.DenyAll, HasServedRoot: s.HasServedRoot, Requisites: s.Requisites,
		DeepRequisites: s.DeepRequisites,
	}
	known.SetAddrsAndFailures(nil, s.FailureStreak().ToAges(now))
	if left := int64(s.RulesUntil) - now.Unix(); s.Rules != nil && left > 0 && s.Rules.Size() <= RulesMax {
		known.Rules, known.RulesUntil = s.Rules, uint32(left)
	}
	if known == (site.State{}) {
		return dst
	}
	return site.Append(dst, &known)
}

func (r *reader) readSite(item []byte) (*SiteMove, error) {
	m := new(SiteMove)
	rest, ok := cutAge(&m.Age, item)
	if !ok {
		return nil, fmt.Errorf("%w: %.40q", errSite, item)
	}
	if m.Key, rest, ok = queued.CutBytes(rest); !ok || !r.isSite(m.Key) {
		return nil, fmt.Errorf("%w: its key: %.200q", errSite, m.Key)
	}
	due, n := binary.Uvarint(rest)
	if n <= 0 || due > math.MaxInt64 {
		return nil, fmt.Errorf("%w: when %.200q is due", errSite, m.Key)
	}
	m.Due = time.Duration(due)
	if m.State, rest, ok = queued.CutBytes(rest[n:]); !ok {
		return nil, fmt.Errorf("%w: what is known of %.200q", errSite, m.Key)
	}
	if len(m.State) > 0 {
		var err error
		if m.Known, err = site.Decode(m.State, r.rules); err != nil {
			return nil, err
		}
	}
	m.head = len(item) - len(rest)
	for raw, err := range outbox.Items(rest) {
		var it queued.URL
		if err == nil {
			it, err = r.readURL(Site, m.Key, raw)
		}
		if err != nil {
			return nil, err
		}
		m.URLs = append(m.URLs, it)
	}
	return m, nil
}

// cutAge reads version and age, which stand behind the kind.
func cutAge(age *time.Duration, item []byte) (rest []byte, ok bool) {
	if len(item) < siteHead || item[1] != version {
		return nil, false
	}
	*age = time.Duration(min(binary.LittleEndian.Uint64(item[2:]), math.MaxInt64))
	return item[siteHead:], true
}

// WithAges is a message as it is sent at a time: with the ages of its items in place of the times at which they were
// put into the outbox. It is the message itself if no item has an age, else a copy.
func WithAges(batch []byte, now time.Time) []byte {
	sent := batch
	for at := 0; at < len(batch); {
		size, n := binary.Uvarint(batch[at:])
		at += n
		item := batch[at : at+int(size)]
		if len(item) >= siteHead && (item[0] == Site || item[0] == RobotsResult) {
			if &sent[0] == &batch[0] {
				sent = bytes.Clone(batch)
			}
			put := int64(binary.LittleEndian.Uint64(item[2:]))
			binary.LittleEndian.PutUint64(sent[at+2:], uint64(max(now.UnixNano()-put, 0)))
		}
		at += int(size)
	}
	return sent
}
