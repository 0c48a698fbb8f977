package rebuild

import (
	"errors"
	"fmt"

	"orbweaver/engine/records/dedup"
	"orbweaver/internal/extsort"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// lists are what the readings need to know of the whole archive, in files.
type lists struct {
	// first is the first response with each payload digest. others are all later responses, by record id. Both have the
	// place of the record in First.URI. named has, by digest, the record that revisits name where it is not the first.
	first, others, named *dedup.Map
	repeatable           *sorted // attempts after which a crawl may try again, by URL
	final                *sorted // of these, those that were the last try, by number
}

type sorted = extsort.Sorter

const listMemory = 32 << 20 // of each map

func openLists(fsys vfs.FS, dir string) (l *lists, err error) {
	l = new(lists)
	for _, m := range []struct {
		to   **dedup.Map
		name string
	}{{&l.first, "first"}, {&l.others, "others"}, {&l.named, "named"}} {
		if *m.to, err = dedup.Open(fsys, dedup.Options{Dir: dir + "/" + m.name, MemoryBytes: listMemory}, nil); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	for _, s := range []struct {
		to   **sorted
		name string
	}{{&l.repeatable, "tries"}, {&l.final, "lasts"}} {
		if *s.to, err = extsort.New(fsys, extsort.Options{File: dir + "/" + s.name}); err != nil {
			return nil, errors.Join(err, l.close())
		}
	}
	return l, nil
}

// close closes the lists; End removes their files.
func (l *lists) close() error {
	var errs []error
	for _, m := range []*dedup.Map{l.first, l.others, l.named} {
		if m != nil {
			errs = append(errs, m.Close())
		}
	}
	for _, s := range []*sorted{l.repeatable, l.final} {
		if s != nil {
			errs = append(errs, s.Close())
		}
	}
	return errors.Join(errs...)
}

// addPayload notes a response that has a payload digest.
func (l *lists) addPayload(rec *warc.RecordRead, at warc.Position) error {
	d := dedup.Digest(*rec.PayloadDigest)
	f := dedup.First{RecordID: rec.ID, URI: formatPlace(at, d), Date: rec.Date}
	_, fresh, err := l.first.Insert(d, f)
	if err == nil && !fresh {
		_, _, err = l.others.Insert(keyOfID(rec.ID), f)
	}
	return err
}

// resolve says whether the record that a revisit names is stored and has the payload. asFirst says that the revisit
// names it as the first record with that payload.
func (l *lists) resolve(d dedup.Digest, to warc.ID, asFirst bool) (bool, error) {
	first, ok, err := l.first.Lookup(d)
	if err != nil || ok && warc.ID(first.RecordID) == to {
		return ok, err
	}
	other, ok, err := l.others.Lookup(keyOfID(to))
	if err != nil || !ok {
		return false, err
	}
	if _, have, err := parsePlace(other.URI); err != nil || have != d {
		return false, err
	}
	if asFirst {
		_, _, err = l.named.Insert(d, other)
	}
	return true, err
}

// mayBeFirst says whether payload deduplication may name this response for its payload: the record that revisits name,
// or else the first one.
func (l *lists) mayBeFirst(d dedup.Digest, id warc.ID) (bool, error) {
	if l.named.Len() == 0 {
		return true, nil
	}
	named, ok, err := l.named.Lookup(d)
	return !ok || warc.ID(named.RecordID) == id, err
}

// placeOf is the place of the first record with a payload.
func (l *lists) placeOf(d dedup.Digest) (at warc.Position, ok bool, err error) {
	first, ok, err := l.first.Lookup(d)
	if err != nil || !ok {
		return at, false, err
	}
	at, _, err = parsePlace(first.URI)
	return at, err == nil, err
}

func keyOfID(id warc.ID) (d dedup.Digest) {
	copy(d[:], id[:])
	return d
}

func formatPlace(at warc.Position, d dedup.Digest) string {
	return fmt.Sprintf("%d %d %d %x", at.Serial, at.Offset, at.Length, d[:])
}

func parsePlace(s string) (at warc.Position, d dedup.Digest, err error) {
	var sum []byte
	if _, err := fmt.Sscanf(s, "%d %d %d %x", &at.Serial, &at.Offset, &at.Length, &sum); err != nil || len(sum) != len(d) {
		return at, d, fmt.Errorf("rebuild: a list is damaged: %q", s)
	}
	copy(d[:], sum)
	return at, d, nil
}
