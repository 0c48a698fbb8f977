package message

import (
	"bytes"
	"fmt"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
)

// Item is an item of a message with what it says. It borrows the message, except for Robots.
type Item struct {
	Bytes []byte // as it stands in a message

	// One of these is set, by the kind.
	URL      queued.URL         // of Link and RobotsRedirect, whole in URL.Rest
	Site     *SiteMove          // of Site
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
