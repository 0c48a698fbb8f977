package message

import (
	"bytes"
	"fmt"
	"iter"

	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
)

// Check says why a message cannot be read: cluster.ErrMalformed, with the cause. rules holds the rules of sites.
func Check(batch []byte, rules *site.RulesPool) error {
	var url []byte
	for item, err := range outbox.Items(batch) {
		if err == nil {
			url, err = CheckItem(url, item, rules)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", cluster.ErrMalformed, err)
		}
	}
	return nil
}

// CheckItem says why an item cannot be read. It returns scratch, perhaps grown.
func CheckItem(scratch, item []byte, rules *site.RulesPool) (_ []byte, err error) {
	switch KindOf(item) {
	case Site:
		err = CheckSite(item, rules)
	case RobotsRedirect:
		_, err = ReadRobotsRedirect(item)
	case RobotsResult:
		_, err = ReadRobotsResult(item, rules)
	case Fetched:
		_, _, err = ReadFetched(item)
	case Retained:
		_, _, err = ReadRetained(item, rules)
	default:
		return CheckLink(scratch, item)
	}
	return scratch, err
}

// CountLinks says how many URLs an item has, or why it cannot be read.
func CountLinks(item []byte) (links int64, err error) {
	if _, err := CheckItem(nil, item, site.NewRulesPool(0)); err != nil {
		return 0, err
	}
	switch KindOf(item) {
	case Link:
		links = 1
	case Site:
		m, err := ReadSite(item)
		if err != nil {
			return 0, err
		}
		for _, err := range m.URLs() {
			if err != nil {
				return links, err
			}
			links++
		}
	}
	return links, nil
}

// CheckedItems are the items of a message, or of part of one, that has been checked.
func CheckedItems(b []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for item, err := range outbox.Items(b) {
			if err != nil || !yield(item) {
				return
			}
		}
	}
}

// WithoutSeed is a link without the flag of a seed: the item itself if it has none, else a copy.
func WithoutSeed(link []byte) []byte { return withoutSeedAt(link, 1) }

// withoutSeedAt is an item without the flag of a seed, which is in the byte at an offset.
func withoutSeedAt(item []byte, offset int) []byte {
	if len(item) <= offset || item[offset]&queued.FlagSeed == 0 {
		return item
	}
	item = bytes.Clone(item)
	item[offset] &^= queued.FlagSeed
	return item
}

// WithoutSeeds is the item of a site without the flags of seeds: the item itself if it has none, else a copy.
func (m *SiteMove) WithoutSeeds(item []byte) []byte {
	isSeed := false
	for raw := range CheckedItems(m.Items) {
		isSeed = isSeed || len(raw) > 0 && raw[0]&queued.FlagSeed != 0
	}
	if !isSeed {
		return item
	}
	own := bytes.Clone(item[:len(item)-len(m.Items)])
	for raw := range CheckedItems(m.Items) {
		own = outbox.AppendItem(own, withoutSeedAt(raw, 0))
	}
	return own
}
