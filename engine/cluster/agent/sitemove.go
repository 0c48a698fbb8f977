package agent

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/journal"
	"orbweaver/engine/queued"
	"orbweaver/engine/site"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
)

// A site that has become another agent's goes there as items of a letter, each with what was learnt of it, so that no
// URL of it arrives before its clocks do, and with URLs that are queued for it:
//
//	'S' 1  age (8)  key (s)  due (u)  Site (s)  Item (s)*        Items have their paths; of s and u see workbench
//	'V' 1  age (8)  key (s)  rules (s)                           what came of a robots.txt that was redirected: see robotsletter.go
//
// due is in nanoseconds from the sending on. In Site the end of the rules is in seconds from then on; no Site says that
// nothing is known. In the outbox age is the time of day at which the item was put there, by this machine's clock; on
// the way it is how long ago that was, in nanoseconds: no agent sees another's clock. A due is counted from the
// arrival, so that a letter that was long on its way makes it later and never earlier; of the life of rules the age is
// taken off.
const siteMoveVersion = 1

// siteMove is a site on its way, as a letter has it. It borrows the letter.
type siteMove struct {
	age   time.Duration
	key   []byte
	due   time.Duration // 0 if it may be asked at once
	state []byte        // empty if nothing is known
	items []byte
}

// siteMoveHead is kind, version and age.
const siteMoveHead = 2 + 8

// siteMoveRules is up to how much of rules goes along, in bytes. Larger ones are asked for anew.
const siteMoveRules = 64 << 10

// appendSiteMove begins an item, to which the queued ones are appended with outbox.AppendItem.
func appendSiteMove(dst, key []byte, due time.Duration, state []byte, now time.Time) []byte {
	dst = append(dst, letterSite, siteMoveVersion)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(now.UnixNano()))
	dst = queued.AppendBytes(dst, key)
	dst = binary.AppendUvarint(dst, uint64(max(due, 0)))
	return queued.AppendBytes(dst, state)
}

// appendKnown appends what is worth to be known of a site elsewhere; nothing if nothing is. Its name is resolved again
// there, and what an operator said of it is said to each agent.
func appendKnown(dst []byte, s *site.State, now time.Time) []byte {
	known := site.State{Stored: s.Stored, Failures: s.Failures, Slowdown: s.Slowdown, RobotsTries: s.RobotsTries,
		HasAnswered: s.HasAnswered, DenyAll: s.DenyAll,
		HasServedRoot: s.HasServedRoot}
	known.SetAddrsAndFailures(nil, s.FailureStreak().ToAges(now))
	if left := int64(s.RulesUntil) - now.Unix(); s.Rules != nil && left > 0 && s.Rules.Size() <= siteMoveRules {
		known.Rules, known.RulesUntil = s.Rules, uint32(left)
	}
	if known == (site.State{}) {
		return dst
	}
	return site.Append(dst, &known)
}

var errSiteMove = errors.New("no site of another agent")

// readSiteMove reads an item.
func readSiteMove(item []byte) (m siteMove, err error) {
	rest, ok := m.head(item, letterSite)
	if !ok {
		return m, fmt.Errorf("%w: %.40q", errSiteMove, item)
	}
	if m.key, rest, ok = queued.CutBytes(rest); !ok || !isSiteKey(m.key) {
		return m, fmt.Errorf("%w: its key: %.200q", errSiteMove, m.key)
	}
	due, n := binary.Uvarint(rest)
	if n <= 0 || due > math.MaxInt64 {
		return m, fmt.Errorf("%w: when %.200q is due", errSiteMove, m.key)
	}
	m.due = time.Duration(due)
	if m.state, m.items, ok = queued.CutBytes(rest[n:]); !ok {
		return m, fmt.Errorf("%w: what is known of %.200q", errSiteMove, m.key)
	}
	return m, nil
}

// head reads kind, version and age.
func (m *siteMove) head(item []byte, kind byte) (rest []byte, ok bool) {
	if len(item) < siteMoveHead || item[0] != kind || item[1] != siteMoveVersion {
		return nil, false
	}
	age := binary.LittleEndian.Uint64(item[2:])
	m.age = time.Duration(min(age, math.MaxInt64))
	return item[siteMoveHead:], true
}

// isSiteKey says that bytes are scheme and authority of a normal form.
func isSiteKey(key []byte) bool {
	if len(key) == 0 || key[len(key)-1] == '/' {
		return false
	}
	root := append(bytes.Clone(key), '/')
	url, err := urlx.Normalize(nil, root)
	return err == nil && bytes.Equal(url, root)
}

// urls are the queued items, each with its whole URL. An item that none of ours can be ends with an error.
func (m *siteMove) urls() iter.Seq2[queued.URL, error] {
	return func(yield func(queued.URL, error) bool) {
		var url []byte
		for raw, err := range outbox.Items(m.items) {
			var it queued.URL
			if err == nil {
				it, url, err = m.whole(raw, url[:0])
			}
			if !yield(it, err) || err != nil {
				return
			}
		}
	}
}

// whole makes the whole URL of a queued item.
func (m *siteMove) whole(raw, scratch []byte) (it queued.URL, url []byte, err error) {
	it, ok := queued.Decode(raw)
	if !ok || it.RobotsOf != nil {
		return it, scratch, fmt.Errorf("no path of %.200q: %.200q", m.key, raw)
	}
	url = append(append(scratch, m.key...), it.Rest...)
	if it.Rest, err = urlx.Normalize(nil, url); err != nil || !bytes.Equal(it.Rest, url) {
		return it, url, fmt.Errorf("a URL that is not in normal form: %.200q", url)
	}
	it.Rest = url
	return it, url, nil
}

// aged is a letter as it goes on its way at a moment: where items say when they were put into the outbox it says how
// long ago that was. Without such items it is the letter itself, else a copy.
func aged(letter []byte, now time.Time) []byte {
	own := letter
	for at := 0; at < len(letter); {
		size, n := binary.Uvarint(letter[at:])
		at += n
		if item := letter[at : at+int(size)]; len(item) >= siteMoveHead && (item[0] == letterSite ||
			item[0] == letterVerdict) {
			if &own[0] == &letter[0] {
				own = bytes.Clone(letter)
			}
			put := int64(binary.LittleEndian.Uint64(item[2:]))
			binary.LittleEndian.PutUint64(own[at+2:], uint64(max(now.UnixNano()-put, 0)))
		}
		at += int(size)
	}
	return own
}

// takeSite takes a site that another agent had. Its clocks and rules are set, unless they are of long ago, before its
// URLs pass admission: as long as it has no URL it is not leased to a fetch worker, and only such a site takes them.
func (p *agent) takeSite(d *admission.Scratch, item []byte, m postmark) error {
	move, err := readSiteMove(item)
	if err != nil {
		return err
	}
	c := p.views.Load()
	switch owner := c.OwnerOf(move.key); {
	case m.told || p.frontier.HostRules.Excludes(move.key):
	case owner == c.Self:
		err = p.keepSite(&move, m)
	default:
		put := time.Now().Add(-move.age)
		p.outbox.PutBacklog(c.Instances[owner], appendSiteMove(nil, move.key, move.due, move.state, put))
	}
	for it, fault := range move.urls() {
		if err = errors.Join(err, fault); err != nil {
			break
		}
		p.frontier.Receive(d, it.Rest, it)
	}
	return err
}

// keepSite sets clocks and rules of a site.
func (p *agent) keepSite(move *siteMove, m postmark) error {
	var known site.State
	if len(move.state) > 0 {
		var err error
		if known, err = site.Decode(move.state, p.sites.Rules); err != nil {
			return err
		}
	}
	now, due := time.Now(), time.Time{}
	if move.due > 0 {
		due = now.Add(min(move.due, journal.DueMax))
	}
	life := time.Duration(known.RulesUntil)*time.Second - move.age - m.aged
	known.SetAddrsAndFailures(nil, known.FailureStreak().FromAges(now, move.age+m.aged))
	if known.Rules != nil && !p.sites.Rules.Accepts(known.Rules) {
		known.Rules = nil
	}
	err := p.sites.UseOrAdd(move.key, func(vs *visit.State) {
		p.sites.Workbench.WithSite(vs, func(s *site.State) { s.Merge(&known, life, now) }) // who visits it knows better
		p.sites.Workbench.Postpone(vs, due, time.Time{})
	})
	if err == nil && m.from != "" && m.from == p.formerly(move.key) {
		p.inOrder.add(move.key, due)
	}
	return err
}

// formerly is who was responsible for a site before this agent, the last time that somebody was; empty if nobody is
// known.
func (p *agent) formerly(site []byte) string {
	c := p.views.Load()
	was, ok := p.previousViews.Last()
	if time.Now().UnixNano() < p.cautiousUntil.Load() { // it has just come: whoever would be without it
		if next := c.Successors(site, 1); len(next) > 0 {
			return c.Agents[next[0]].ID
		}
		return ""
	}
	if !ok {
		return ""
	}
	return was.Agents[was.OwnerOf(site)].ID
}
