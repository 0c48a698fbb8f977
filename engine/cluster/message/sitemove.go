package message

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/internal/urlx"
)

// SiteMove is a site that moves to another agent, as an item has it. It borrows the item.
type SiteMove struct {
	Age   time.Duration
	Key   []byte        // scheme and authority
	Due   time.Duration // until the site may be visited; 0 for at once
	State []byte        // a site.State; empty if nothing is known
	Items []byte        // queued URLs with their paths, framed
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

// ReadSite reads an item with a site. It does not read the state and the URLs.
func ReadSite(item []byte) (m SiteMove, err error) {
	rest, ok := cutAge(&m.Age, item, Site)
	if !ok {
		return m, fmt.Errorf("%w: %.40q", errSite, item)
	}
	if m.Key, rest, ok = queued.CutBytes(rest); !ok || !isSiteKey(m.Key) {
		return m, fmt.Errorf("%w: its key: %.200q", errSite, m.Key)
	}
	due, n := binary.Uvarint(rest)
	if n <= 0 || due > math.MaxInt64 {
		return m, fmt.Errorf("%w: when %.200q is due", errSite, m.Key)
	}
	m.Due = time.Duration(due)
	if m.State, m.Items, ok = queued.CutBytes(rest[n:]); !ok {
		return m, fmt.Errorf("%w: what is known of %.200q", errSite, m.Key)
	}
	return m, nil
}

// cutAge reads kind, version and age.
func cutAge(age *time.Duration, item []byte, kind byte) (rest []byte, ok bool) {
	if len(item) < siteHead || item[0] != kind || item[1] != version {
		return nil, false
	}
	*age = time.Duration(min(binary.LittleEndian.Uint64(item[2:]), math.MaxInt64))
	return item[siteHead:], true
}

// URLs are the queued URLs, each whole. A malformed one ends them with an error.
func (m *SiteMove) URLs() iter.Seq2[queued.URL, error] {
	return func(yield func(queued.URL, error) bool) {
		var url []byte
		for raw, err := range outbox.Items(m.Items) {
			var it queued.URL
			if err == nil {
				it, url, err = m.readURL(raw, url[:0])
			}
			if !yield(it, err) || err != nil {
				return
			}
		}
	}
}

// readURL reads a queued URL and makes it whole, in scratch.
func (m *SiteMove) readURL(raw, scratch []byte) (it queued.URL, url []byte, err error) {
	it, ok := queued.Decode(raw)
	if !ok || it.RobotsOf != nil {
		return it, scratch, fmt.Errorf("not a path of %.200q: %.200q", m.Key, raw)
	}
	url = append(append(scratch, m.Key...), it.Rest...)
	if it.Rest, err = urlx.Normalize(nil, url); err != nil || !bytes.Equal(it.Rest, url) {
		return it, url, fmt.Errorf("a URL that is not in normal form: %.200q", url)
	}
	it.Rest = url
	return it, url, nil
}

// CheckSite says what is wrong with an item with a site. rules holds the rules in its state.
func CheckSite(item []byte, rules *site.RulesPool) error {
	m, err := ReadSite(item)
	if err != nil {
		return err
	}
	for _, err := range m.URLs() {
		if err != nil {
			return err
		}
	}
	if len(m.State) > 0 {
		_, err = site.Decode(m.State, rules)
	}
	return err
}

// AppendLinks appends the URLs of an item with a site as items of their own, none of them a seed.
func AppendLinks(batch, item []byte) []byte {
	m, err := ReadSite(item)
	if err != nil {
		return batch
	}
	for it, err := range m.URLs() {
		if err == nil {
			it.Seed = false
			batch = outbox.AppendItem(batch, AppendLink(nil, &it))
		}
	}
	return batch
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
