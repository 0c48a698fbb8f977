package cold

import "fmt"

// Each calls f for every host that is in, in the order of the log, until f returns false. f borrows both. Nothing else may use the
// store meanwhile.
func (s *Store) Each(f func(key, form []byte) bool) error {
	if err := s.Flush(); err != nil {
		return err
	}
	done := false
	return s.walk(func(p Position, r *record) error {
		if !done && r.kind == kindHost && s.table.has(s.hash(r.key), placeOf(p)) {
			done = !f(r.key, r.form)
		}
		return nil
	})
}

// Check reads everything and says whether table, sums and log agree. Nothing else may use the store meanwhile.
func (s *Store) Check() error {
	var hosts, sum uint64
	var live int64
	twins := make(map[uint64]struct{}, s.Len())
	var twin error
	err := s.Each(func(key, form []byte) bool {
		hash := s.hash(key)
		if _, there := twins[hash]; there {
			twin = fmt.Errorf("%w: %s holds %.200q twice", ErrCorrupt, s.o.Dir, key)
		}
		twins[hash] = struct{}{}
		hosts, sum, live = hosts+1, sum+hash, live+sizeOf(len(key)+len(form))
		return true
	})
	switch {
	case err != nil:
		return err
	case twin != nil:
		return twin
	case hosts != uint64(s.table.used) || sum != s.sum || live != s.live:
		return fmt.Errorf("%w: %s holds %d hosts in %d bytes, noted are %d in %d", ErrCorrupt, s.o.Dir, hosts, live, s.table.used, s.live)
	}
	return nil
}
