package journal

import (
	"fmt"

	"orbweaver/engine/records/dedup"
)

// Claim says that a response will be the first of its payload in the archive. The zero value claims nothing.
type Claim struct {
	digest dedup.Digest // of the payload
	first  dedup.First  // what later equal payloads refer to
	made   bool
}

// NewClaim claims that the response called first is the first one with this payload digest.
func NewClaim(digest dedup.Digest, first dedup.First) Claim {
	return Claim{digest, first, true}
}

// check returns ErrDuplicate if an equal payload has been stored since the look-up. The caller holds the commit lock.
func (c *Claim) check(m *dedup.Map) error {
	_, stored, err := m.Lookup(c.digest)
	if err != nil {
		return fmt.Errorf("journal: content seen: %w", err)
	}
	if stored {
		return ErrDuplicate
	}
	return nil
}

// enter adds the payload to the map, under the commit lock and after the record was written: the map never names a
// record that is not in the archive. If the map takes no entry, a later copy is stored whole, which is counted.
func (c *Claim) enter(l *Store) {
	if !c.made {
		return
	}
	if _, _, err := l.Seen.Insert(c.digest, c.first); err != nil {
		l.Count.Unclaimed.Add(1)
	}
}
