package rebuild

import (
	"iter"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/extsort"
	"orbweaver/internal/outcome"
)

// tagPage marks an attempt that brought a page, however short. The outcome is in the eight bits below it.
const tagPage = 1 << 8

// judgeTries looks at the answers after which a crawl tries again: a URL that had all its tries is finished, and the
// others begin with their first try.
func (r *recordReading) judgeTries() error {
	var last extsort.Entry
	tries := 0
	judge := func() error {
		o := outcome.Outcome(last.Tag & 0xff)
		if tries == 0 || tries < r.settings.Politeness.Table[o].Tries {
			return nil
		}
		n := &r.Journal.Count
		n.Retries.Add(-1)
		if last.Tag&tagPage != 0 {
			n.PagesStored.Add(1)
			r.depths.unknown++
		}
		if err := r.lists.final.Add(extsort.Entry{Hi: last.Tag >> 16}); err != nil {
			return err
		}
		return r.addFinished(xxh3.Uint128{Hi: last.Hi, Lo: last.Lo}, o)
	}
	for e, err := range r.lists.repeatable.Sorted() {
		if err != nil {
			return err
		}
		if e.Hi != last.Hi || e.Lo != last.Lo {
			if err := judge(); err != nil {
				return err
			}
			tries = 0
		}
		last = e
		tries++
		r.Journal.Count.Retries.Add(1)
	}
	return judge()
}

// lastTries tells which of the repeatable attempts were the last of their URL. The attempts are asked about in order.
type lastTries struct {
	next func() (uint64, bool, error)
	now  uint64 // number of the attempt that is asked about next
	last uint64 // number of the next attempt that was the last of its URL
	some bool   // there is such an attempt
}

func (l *lastTries) advance() (err error) {
	l.last, l.some, err = l.next()
	return err
}

// takeNext says whether the next attempt was the last of its URL.
func (l *lastTries) takeNext() (bool, error) {
	now := l.now
	l.now++
	if !l.some || l.last != now {
		return false, nil
	}
	return true, l.advance()
}

// pull returns the numbers of last tries one after another.
func pull(s *sorted) (next func() (uint64, bool, error), stop func()) {
	get, stop := iter.Pull2(s.Sorted())
	return func() (uint64, bool, error) {
		e, err, ok := get()
		return e.Hi, ok && err == nil, err
	}, stop
}
