package message

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/internal/urlx"
)

// Item is an item of a message with what it says. It borrows the message, except for Robots.
type Item struct {
	Bytes []byte // as it stands in a message

	// One of these is set, by the kind.
	URL      queued.URL         // of Link and RobotsRedirect, whole in URL.Rest
	Site     *SiteMove          // of Site
	Depth    *HostDepth         // of Depth
	Robots   *site.RobotsResult // of RobotsResult
	Fetched  *FetchedPart       // of Fetched
	Retained *RetainedPart      // of Retained
}

// Kind is the kind of an item; 0 for an empty one.
func (i *Item) Kind() byte {
	if len(i.Bytes) == 0 {
		return 0
	}
	return i.Bytes[0]
}

// Read reads a message of another agent. Each item is read and checked once, here. The error is peering.ErrMalformed
// with the cause: the message is refused whole. rules holds the rules of sites.
func Read(batch []byte, rules *site.RulesPool) (items []Item, err error) {
	n := 0
	for _, err := range outbox.Items(batch) {
		if err == nil {
			n++
		}
	}
	items = make([]Item, 0, n) // exactly: short URLs take 13 times the size of the message
	r := reader{rules: rules}
	for raw, err := range outbox.Items(batch) {
		var item Item
		if err == nil {
			item, err = r.read(raw)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", peering.ErrMalformed, err)
		}
		items = append(items, item)
	}
	return items, nil
}

// Decode reads one item that this agent wrote, or has read before. It does not check that URLs are in their normal
// form.
func Decode(raw []byte, rules *site.RulesPool) (Item, error) {
	r := reader{rules: rules, isTrusted: true}
	return r.read(raw)
}

// reader reads items, and checks what other agents say in them: URLs must be in their normal form.
type reader struct {
	rules     *site.RulesPool // holds the rules of sites
	isTrusted bool            // texts are not checked
	scratch   []byte          // of isNormal
}

// read reads one item.
func (r *reader) read(raw []byte) (item Item, err error) {
	item.Bytes = raw
	switch kind := item.Kind(); kind {
	case Link, RobotsRedirect:
		item.URL, err = r.readURL(kind, nil, raw[1:])
	case Site:
		item.Site, err = r.readSite(raw)
	case Depth:
		item.Depth, err = r.readDepth(raw)
	case RobotsResult:
		item.Robots, err = r.readRobotsResult(raw)
	case Fetched:
		item.Fetched, err = readFetched(raw)
	case Retained:
		item.Retained, err = r.readRetained(raw)
	default:
		err = fmt.Errorf("an item of an unknown kind: %.20q", raw)
	}
	return item, err
}

// CountLinks says how many URLs an item has, or why it cannot be read.
func CountLinks(raw []byte) (links int64, err error) {
	r := reader{rules: site.NewRulesPool(0)}
	item, err := r.read(raw)
	switch {
	case err != nil:
		return 0, err
	case item.Site != nil:
		return int64(len(item.Site.URLs)), nil
	case item.Kind() == Link:
		return 1, nil
	}
	return 0, nil
}

// Links are the URLs of a site as items of their own.
func (m *SiteMove) Links() []Item {
	links := make([]Item, len(m.URLs))
	for i := range m.URLs {
		links[i] = Item{Bytes: AppendLink(nil, &m.URLs[i]), URL: m.URLs[i]}
	}
	return links
}

// ClearSeeds removes the flag of a seed from the URLs of an item, and says whether one had it. The message that the
// item borrows does not change.
func (i *Item) ClearSeeds() (isChanged bool) {
	switch {
	case i.Site != nil:
		return i.clearSeedsOfSite()
	case i.URL.Seed:
		i.Bytes = bytes.Clone(i.Bytes)
		i.Bytes[1] &^= queued.FlagSeed
		i.URL.Seed = false
		return true
	}
	return false
}

func (i *Item) clearSeedsOfSite() (isChanged bool) {
	for k := range i.Site.URLs {
		isChanged = isChanged || i.Site.URLs[k].Seed
		i.Site.URLs[k].Seed = false
	}
	if !isChanged {
		return false
	}
	own := bytes.Clone(i.Bytes[:i.Site.head])
	for raw, err := range outbox.Items(i.Bytes[i.Site.head:]) {
		if err == nil {
			raw = bytes.Clone(raw)
			raw[0] &^= queued.FlagSeed
			own = outbox.AppendItem(own, raw)
		}
	}
	i.Bytes = own
	return true
}

// Join writes items one after the other, as a message has them.
func Join(dst []byte, items []Item) []byte {
	for i := range items {
		dst = outbox.AppendItem(dst, items[i].Bytes)
	}
	return dst
}

// The kinds of items, by their first byte.
const (
	Link           byte = 'L' // a URL
	Site           byte = 'S' // a site with queued URLs
	Depth          byte = 'H' // from which depth of a host the order of visits counts
	RobotsRedirect byte = 'R' // a redirect of a robots.txt
	RobotsResult   byte = 'V' // the rules that it led to
	Fetched        byte = 'F' // URLs that an agent has an answer of
	Retained       byte = 'T' // what another agent was sent
)

// Kinds are all kinds of items.
func Kinds() string {
	return string([]byte{Link, Site, Depth, RobotsRedirect, RobotsResult, Fetched, Retained})
}

// The kinds of questions, by their first byte. The packages that ask them have their forms.
const (
	QuestionStatus    byte = 'C' // how far an agent is: package termination
	QuestionEnded     byte = 'O' // says that the crawl has ended: package termination
	QuestionFetched   byte = 'F' // which URLs an agent has fetched: package recovery
	QuestionLease     byte = 'L' // leases of addresses: package leasing
	QuestionConsensus byte = 'Q' // a message of package consensus
	QuestionLeave     byte = 'G' // how far the asking agent is with leaving
	QuestionLeft      byte = 'B' // whether a third agent has left
	QuestionURL       byte = 'U' // what an agent knows about a URL, for its operator
	QuestionDigests   byte = 'D' // which payloads an agent has stored since the last question: package payloads
	QuestionPayload   byte = 'P' // which record of an agent has a payload: package payloads
)

// The answers to QuestionLeave and QuestionLeft.
const (
	LeaveWait byte = iota
	LeaveDone
)

// version is the second byte of an item of kinds that have one.
const version = 1

// IsRetained says of an item for another agent that it is sent again to the agent that takes its place.
func IsRetained(item []byte) bool {
	return len(item) > 0 && (item[0] == Link || item[0] == RobotsRedirect)
}

// AppendLink appends an item with a URL, which is whole in it.Rest.
func AppendLink(dst []byte, it *queued.URL) []byte { return queued.Append(append(dst, Link), it) }

// readURL reads a URL of an item of some kind. key is what precedes the URL: that of its site, or nothing for a whole
// one.
func (r *reader) readURL(kind byte, key, raw []byte) (queued.URL, error) {
	it, ok := queued.Decode(raw)
	isRedirect := kind == RobotsRedirect
	if !ok || isRedirect != (it.RobotsOf != nil) {
		return queued.URL{}, fmt.Errorf("not a URL of an item %c: %.200q", kind, raw)
	}
	if len(key) > 0 {
		it.Rest = slices.Concat(key, it.Rest)
	}
	switch {
	case r.isTrusted:
		return it, nil
	case isRedirect && !r.isSite(it.RobotsOf):
		return it, fmt.Errorf("a redirect of the robots.txt of no site: %.200q", it.RobotsOf)
	case !r.isNormal(it.Rest):
		return it, fmt.Errorf("a URL that is not in normal form: %.200q", it.Rest)
	case !isHopPath(it.HopPath):
		return it, fmt.Errorf("not a hop path: %.200q", it.HopPath)
	case len(it.Via) > 0 && !r.isNormal(it.Via): // it will stand in a record
		return it, fmt.Errorf("a referring page that is not in normal form: %.200q", it.Via)
	}
	return it, nil
}

// isNormal says that a URL is in normal form.
func (r *reader) isNormal(url []byte) bool {
	normal, err := urlx.Normalize(r.scratch[:0], url)
	if err != nil {
		return false
	}
	r.scratch = normal
	return bytes.Equal(normal, url)
}

// isHopPath says that a text is a hop path.
func isHopPath(text []byte) bool {
	return len(text) <= queued.HopPathMax &&
		!slices.ContainsFunc(text, func(c byte) bool { return c != '-' && (c < 'A' || c > 'Z') })
}

// isSite says that bytes are scheme and authority of a URL in normal form, or trusted.
func (r *reader) isSite(key []byte) bool {
	if r.isTrusted {
		return true
	}
	url := append(bytes.Clone(key), '/')
	if !r.isNormal(url) {
		return false
	}
	_, path := urlx.Split(url)
	return len(path) == 1
}

// HostDepth is the depth of a host from which the order of visits counts, plus 1. It borrows the item.
type HostDepth struct {
	Site  []byte // a site of the host
	Least uint8
}

// AppendDepth appends the depth of the host of a site.
func AppendDepth(dst, key []byte, least uint8) []byte {
	return append(append(dst, Depth, version, least), key...)
}

func (r *reader) readDepth(item []byte) (*HostDepth, error) {
	if len(item) < 3 || item[1] != version || item[2] == 0 || !r.isSite(item[3:]) {
		return nil, fmt.Errorf("not the depth of a host: %.200q", item)
	}
	return &HostDepth{Site: item[3:], Least: item[2]}, nil
}

// AppendRobotsRedirect appends a redirect, whose URL is whole in it.Rest.
func AppendRobotsRedirect(dst []byte, it *queued.URL) []byte {
	return queued.Append(append(dst, RobotsRedirect), it)
}

// AppendRobotsResult appends the result of a redirect.
func AppendRobotsResult(dst []byte, r *site.RobotsResult, now time.Time) []byte {
	dst = append(dst, RobotsResult, version)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(now.Add(-r.Age).UnixNano()))
	dst = queued.AppendBytes(dst, r.Site)
	if r.Rules == nil {
		return queued.AppendBytes(dst, nil)
	}
	return queued.AppendBytes(dst, r.Rules.Append(nil))
}

// readRobotsResult reads the result of a redirect, which owns its memory.
func (r *reader) readRobotsResult(item []byte) (*site.RobotsResult, error) {
	result := new(site.RobotsResult)
	rest, ok := cutAge(&result.Age, item)
	if !ok {
		return nil, fmt.Errorf("not the result of a robots.txt: %.40q", item)
	}
	key, rest, ok := queued.CutBytes(rest)
	if !ok || !r.isSite(key) {
		return nil, fmt.Errorf("robots.txt rules of no site: %.200q", key)
	}
	result.Site = bytes.Clone(key)
	text, rest, ok := queued.CutBytes(rest)
	if !ok || len(rest) > 0 {
		return nil, fmt.Errorf("not the robots.txt rules of %.200q", key)
	}
	if result.Unreachable = len(text) == 0; result.Unreachable {
		return result, nil
	}
	var err error
	result.Rules, err = r.rules.Decode(text)
	return result, err
}
