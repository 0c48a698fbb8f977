package gaps

import (
	"math"
	"time"

	"orbweaver/internal/extsort"
)

// exchange is what the archive says of one exchange. Times are microseconds since the epoch of dates.
type exchange struct {
	start    int64 // earliest
	took     int64 // shortest; below 0 if unknown
	era      int   // number of what its file states
	place    place
	idle     int64 // since the previous exchange of the site or address; below 0 if the record does not say
	patience int64 // Retry-After of a 429 or 503; 0 for none
	announce int64 // Crawl-delay of the robots.txt in it; unknownDelay, or noDelay for no robots.txt
	host, ip int64 // own delays; below 0 for those of the era
	limit    int64 // own limit of Crawl-delay; below 0 for that of the era
	flags    uint8
}

// newExchange is an exchange with a start, and nothing else known.
func newExchange(start int64) exchange {
	return exchange{start: start, took: -1, idle: -1, announce: noDelay, host: -1, ip: -1, limit: -1}
}

// The flags of an exchange.
const (
	coarseStart  = 1 << iota // the date is good to a second
	coarseEnd                // the duration is good to a millisecond
	isUnrecorded             // it has no record: only its end is known
	isAnnounced              // no exchange: a robots.txt elsewhere announces a Crawl-delay for this site
	hasField                 // its record has the field that would say how long the site had been left alone
)

const (
	noDelay      = -1            // nothing is announced
	unknownDelay = math.MaxInt64 // what is announced is not known
)

// place is where a record is: number of the file, and offset.
type place uint64

const (
	offsetBits = 40
	offsetMask = 1<<offsetBits - 1
	filesMax   = 1 << (64 - offsetBits)
)

func placeAt(file int, offset int64) place {
	return place(uint64(file)<<offsetBits | uint64(offset)&offsetMask)
}
func (p place) file() int     { return int(p >> offsetBits) }
func (p place) offset() int64 { return int64(p & offsetMask) }

// epoch is the earliest date that the lists hold, the begin of 2000, in microseconds of Unix time. They end in 2071.
const epoch = 946_684_800_000_000

func microsOf(t time.Time) int64 { return t.UnixMicro() - epoch }

// dateOf is the inverse of microsOf.
func dateOf(micros int64) time.Time { return time.UnixMicro(micros + epoch).UTC() }

// An exchange is several entries of a list: all have the key of its site or address, its start, and a running number
// that keeps exchanges of the same start apart. The last bits say what the tag holds.
const (
	partBits   = 3
	numberBits = 10
	startBits  = 64 - partBits - numberBits
	startMax   = 1<<startBits - 1
)

// The parts.
const (
	partFacts     = iota // duration, era, flags
	partPlace            //
	partIdle             //
	partPatience         //
	partAnnounce         //
	partOwnDelays        // in units of delayUnit: host delay, IP delay
	partOwnLimit         //
)

const (
	tookBits    = 40
	tookUnknown = 1<<tookBits - 1
	eraBits     = 16
	erasMax     = 1 << eraBits
	delayUnit   = 100 // microseconds
	ownUnknown  = math.MaxUint32
)

// list is the sorted list of one kind: by site or by address.
type list struct {
	sorter *extsort.Sorter
	number uint64
}

// add adds an exchange under a key.
func (l *list) add(key uint64, x *exchange) error {
	l.number++
	at := uint64(min(max(x.start, 0), startMax))<<(partBits+numberBits) | l.number%(1<<numberBits)<<partBits
	took := uint64(tookUnknown)
	if x.took >= 0 {
		took = uint64(min(x.took, tookUnknown-1))
	}
	facts := took | uint64(x.era)<<tookBits | uint64(x.flags)<<(tookBits+eraBits)
	parts := [...]struct {
		tag uint64
		has bool
	}{
		partFacts:     {facts, true},
		partPlace:     {uint64(x.place), true},
		partIdle:      {uint64(x.idle), x.idle >= 0},
		partPatience:  {uint64(x.patience), x.patience > 0},
		partAnnounce:  {uint64(x.announce), x.announce != noDelay},
		partOwnDelays: {uint64(packDelay(x.host))<<32 | uint64(packDelay(x.ip)), x.host >= 0 || x.ip >= 0},
		partOwnLimit:  {uint64(x.limit), x.limit >= 0},
	}
	for part, p := range parts {
		if !p.has {
			continue
		}
		if err := l.sorter.Add(extsort.Entry{Hi: key, Lo: at | uint64(part), Tag: p.tag}); err != nil {
			return err
		}
	}
	return nil
}

// packDelay rounds down: a delay that is too short by a part of its unit does no harm.
func packDelay(micros int64) uint32 {
	if micros < 0 {
		return ownUnknown
	}
	return uint32(min(micros/delayUnit, ownUnknown-1))
}

func unpackDelay(n uint32) int64 {
	if n == ownUnknown {
		return -1
	}
	return int64(n) * delayUnit
}

// setPart puts one part into x.
func (x *exchange) setPart(part int, tag uint64) {
	switch part {
	case partFacts:
		x.took = int64(tag & tookUnknown)
		if x.took == tookUnknown {
			x.took = -1
		}
		x.era, x.flags = int(tag>>tookBits)&(erasMax-1), uint8(tag>>(tookBits+eraBits))
	case partPlace:
		x.place = place(tag)
	case partIdle:
		x.idle = int64(tag)
	case partPatience:
		x.patience = int64(tag)
	case partAnnounce:
		x.announce = int64(tag)
	case partOwnDelays:
		x.host, x.ip = unpackDelay(uint32(tag>>32)), unpackDelay(uint32(tag))
	case partOwnLimit:
		x.limit = int64(tag)
	}
}

// each calls f with all exchanges of the list, those of one key in the order of their start.
func (l *list) each(f func(key uint64, x *exchange) error) error {
	var x exchange
	var key, at uint64
	isOpen := false
	for e, err := range l.sorter.Sorted() {
		if err != nil {
			return err
		}
		if this := e.Lo >> partBits; !isOpen || e.Hi != key || this != at {
			if isOpen {
				if err := f(key, &x); err != nil {
					return err
				}
			}
			key, at, isOpen = e.Hi, this, true
			x = newExchange(int64(at >> numberBits))
		}
		x.setPart(int(e.Lo&(1<<partBits-1)), e.Tag)
	}
	if !isOpen {
		return nil
	}
	return f(key, &x)
}

// idleError is how far the time that a record says its site had been left alone may be wrong, in microseconds: it is a
// difference of two times in milliseconds.
const idleError = 1000

// startLatest is the latest start that fits the record.
func (x *exchange) startLatest() int64 {
	latest := x.start
	if x.flags&coarseStart != 0 {
		latest += time.Second.Microseconds() - 1
	}
	if x.flags&isUnrecorded != 0 {
		latest += 2 * idleError
	}
	return latest
}

// end returns the earliest and the latest end. The latest is never if the duration is not known.
func (x *exchange) end() (earliest, latest int64) {
	if x.took < 0 {
		return x.start, never
	}
	latest = x.startLatest() + x.took
	if x.flags&coarseEnd != 0 {
		latest += time.Millisecond.Microseconds() - 1
	}
	return x.start + x.took, latest
}
