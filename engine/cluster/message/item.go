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

// Read reads a message of another agent. Each item is decoded once, here. The error is peering.ErrMalformed with the
// cause: the message is refused whole. rules holds the rules of sites.
func Read(batch []byte, rules *site.RulesPool) (items []Item, err error) {
	var c checker
	if items, err = readAll(batch, rules); err == nil {
		err = c.checkAll(items)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", peering.ErrMalformed, err)
	}
	return items, nil
}

func readAll(batch []byte, rules *site.RulesPool) (items []Item, err error) {
	n := 0
	for _, err := range outbox.Items(batch) {
		if err != nil {
			return nil, err
		}
		n++
	}
	items = make([]Item, 0, n)
	for raw, err := range outbox.Items(batch) {
		var item Item
		if err == nil {
			item, err = Decode(raw, rules)
		}
		if err != nil {
			return nil, err
		}
		items = append(items, item)
	}
	return items, nil
}

// Decode reads one item that this agent wrote, or has read before. It does not check that URLs are in their normal
// form.
func Decode(raw []byte, rules *site.RulesPool) (item Item, err error) {
	item.Bytes = raw
	switch item.Kind() {
	case Site:
		item.Site, err = readSite(raw, rules)
	case RobotsRedirect:
		item.URL, err = readRobotsRedirect(raw)
	case RobotsResult:
		item.Robots, err = readRobotsResult(raw, rules)
	case Fetched:
		item.Fetched, err = readFetched(raw)
	case Retained:
		item.Retained, err = readRetained(raw, rules)
	default:
		item.URL, err = readLink(raw)
	}
	return item, err
}

// checker checks what other agents say: URLs must be in their normal form.
type checker struct{ scratch []byte }

func (c *checker) checkAll(items []Item) error {
	for i := range items {
		if err := c.check(&items[i]); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) check(item *Item) error {
	switch {
	case item.Site != nil:
		return c.checkSite(item.Site)
	case item.Robots != nil && !c.isSite(item.Robots.Site):
		return fmt.Errorf("robots.txt rules of no site: %.200q", item.Robots.Site)
	case item.Robots != nil, item.Fetched != nil:
		return nil
	case item.Retained != nil:
		return c.checkAll(item.Retained.Items)
	case item.URL.RobotsOf != nil:
		return c.checkRobotsRedirect(&item.URL)
	}
	return c.checkLink(&item.URL)
}

// CountLinks says how many URLs an item has, or why it cannot be read.
func CountLinks(raw []byte) (links int64, err error) {
	item, err := Decode(raw, site.NewRulesPool(0))
	if err == nil {
		err = new(checker).check(&item)
	}
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
