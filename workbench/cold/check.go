package cold

import (
	"fmt"

	"orbweaver/internal/vfs"
)

// Each calls f for every host of the store, in the order of the log, until f returns false. f borrows key and form. No
// other method may be called during Each.
func (s *Store) Each(f func(key, form []byte) bool) error {
	if err := s.Flush(); err != nil {
		return err
	}
	done := false
	return s.segments.walk(s.log.head, s.log.tail, func(p Position, r *record) error {
		if !done && r.kind == kindHost && s.hosts.has(s.hosts.hash(r.key), p) {
			done = !f(r.key, r.form)
		}
		return nil
	})
}

// Check reads the whole log and compares it with the table and the sums. It returns an error if they differ. No other
// method may be called during Check.
func (s *Store) Check() error {
	var hosts, sum uint64
	var live int64
	hashes := make(map[uint64]struct{}, s.Len())
	var repeated error
	err := s.Each(func(key, form []byte) bool {
		hash := s.hosts.hash(key)
		if _, there := hashes[hash]; there {
			repeated = fmt.Errorf("%w: %s contains the host %.200q twice", vfs.ErrCorrupt, s.segments.dir, key)
		}
		hashes[hash] = struct{}{}
		hosts, sum, live = hosts+1, sum+hash, live+sizeOf(len(key)+len(form))
		return true
	})
	switch {
	case err != nil:
		return err
	case repeated != nil:
		return repeated
	case hosts != uint64(s.hosts.table.used) || sum != s.hosts.sum || live != s.hosts.bytes:
		what := "%w: %s contains %d hosts in %d bytes, but the table has %d in %d"
		return fmt.Errorf(what, vfs.ErrCorrupt, s.segments.dir, hosts, live, s.hosts.table.used, s.hosts.bytes)
	}
	return nil
}
