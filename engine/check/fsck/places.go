package fsck

import (
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/extsort"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// place is where a URL was met. The order is that in which compare wants to hear of one URL.
type place uint8

const (
	onBench    place = iota
	onDisk           // in its site's queue
	isReady          // in the ready queue
	inFlight         // on its way when the checkpoint was taken
	isFinished       // named as finished by an earlier journal, and still in a queue
	isHop            // asked for on the way to a robots.txt
	asked            // has a record of an answer that may have been asked for again
	stored           // has a record of its last answer
)

func (p place) area() string {
	return [...]string{"bench", "queues", "ready", areaInFlight, areaInFlight, areaArchive, areaArchive, areaArchive}[p]
}

// The tag of an entry: the place, and of a record its position.
const (
	placeShift  = 61
	serialShift = 40
	offsetMask  = 1<<serialShift - 1
	serialMask  = 1<<(placeShift-serialShift) - 1
)

func placeTag(p place, at warc.Checkpoint) uint64 {
	return uint64(p)<<placeShift | uint64(at.Serial&serialMask)<<serialShift | uint64(at.Length)&offsetMask
}

// places gathers where every URL is, by fingerprint, and every record's identity. What does not fit in memory goes to a
// temporary directory.
type places struct {
	urls *extsort.Sorter
	ids  *extsort.Sorter

	robots  uint64            // records of robots.txt: each may be that of a page
	answers map[uint32]string // names of the archive's files
	final   int64             // URLs with a record of their last answer
	loose   int64             // records with a status that earlier versions counted as an answer, and that is none now
	hops    int64             // URLs that were asked for on the way to a robots.txt
	foreign int64             // URLs that may have been asked for on the way to another agent's robots.txt
}

func newPlaces(fsys vfs.FS, dir string, memory int) (*places, error) {
	urls, err := extsort.New(fsys, extsort.Options{File: dir + "/urls", MemoryBytes: memory})
	if err != nil {
		return nil, err
	}
	ids, err := extsort.New(fsys, extsort.Options{File: dir + "/ids", MemoryBytes: memory})
	return &places{urls: urls, ids: ids, answers: map[uint32]string{}}, err
}

func (p *places) close() error { return errors.Join(p.urls.Close(), p.ids.Close()) }

func (p *places) add(fp xxh3.Uint128, where place, at warc.Checkpoint) error {
	return p.urls.Add(extsort.Entry{Hi: fp.Hi, Lo: fp.Lo, Tag: placeTag(where, at)})
}

// url is all that was met of one URL.
type url struct {
	fp     xxh3.Uint128
	counts [stored + 1]int // by place
	tag    uint64          // of the last record of an answer
	where  []place
}

func (u *url) String() string {
	return fmt.Sprintf("the URL with the fingerprint %016x%016x", u.fp.Hi, u.fp.Lo)
}

// placeCheck compares the places of each URL, and of each record.
type placeCheck struct{ *checker }

// comparePlaces compares what was collected, URL by URL in the order of the fingerprints, so that the sieve's files are
// read from front to back. No URL is queued twice, or queued with a record (I1). The sieve knows queued URLs (I4) and
// URLs with a record (I2).
func (c *placeCheck) comparePlaces() error {
	c.o.Progress("every URL in one place")
	var u url
	judge := func() error {
		if len(u.where) == 0 {
			return nil
		}
		return c.judgeURL(&u)
	}
	for e, err := range c.places.urls.Sorted() {
		if err = errors.Join(err, c.ctx.Err()); err != nil {
			return err
		}
		if fp := (xxh3.Uint128{Hi: e.Hi, Lo: e.Lo}); fp != u.fp || len(u.where) == 0 {
			if err := judge(); err != nil {
				return err
			}
			u = url{fp: fp, where: u.where[:0]}
		}
		p := place(e.Tag >> placeShift)
		u.counts[p]++
		u.where = append(u.where, p)
		u.tag = e.Tag
	}
	return judge()
}

func (c *placeCheck) judgeURL(u *url) error {
	waiting := u.counts[onBench] + u.counts[onDisk] + u.counts[isReady] + u.counts[inFlight]
	hop, finished, answered := u.counts[isHop] > 0, u.counts[isFinished] > 0, u.counts[stored]+u.counts[asked] > 0
	first := u.where[0]
	if u.counts[stored] > 0 && !hop && !c.isFetched(u.fp, c.placeOfRecord(u.tag)) {
		hop = true // of another agent's robots.txt
	}
	if waiting > 1 && !c.ownershipChanged() {
		c.fault(u.where[1].area(), c.fileOfPlace(u.where[1]), "%s waits here and in %s (I1)", u, c.fileOfPlace(first))
	}
	if waiting > 0 && u.counts[stored] > 0 && !hop && !finished && !c.ownershipChanged() && !c.hasRemoved {
		c.fault(first.area(), c.fileOfPlace(first), "%s waits here, and its answer is in the archive, in %s (I1)", u,
			c.placeOfRecord(u.tag))
	}
	if u.counts[stored] > 0 && !hop && !finished && (waiting == 0 || c.ownershipChanged()) {
		c.places.final++
	}
	if hop {
		c.places.hops++
	}
	knownURLs, ok := c.sieve.get()
	// The redirect that led to a hop may be in a file that was removed.
	if !ok || c.ownershipChanged() || waiting == 0 && (!answered || hop || finished || c.hasRemoved) {
		return nil
	}
	known, err := knownURLs.Contains(u.fp)
	if err != nil || known {
		return nil //nolint:nilerr // the sieve's own Check has told it
	}
	if waiting == 0 && u.counts[stored] == 0 && knownURLs.Pending() > 0 {
		return nil // after a kill: it will be fetched again, and its link, read back from the archive, is pending
	}
	if waiting > 0 {
		c.fault(first.area(), c.fileOfPlace(first), "%s waits here, and the sieve does not know it (I4)", u)
	} else {
		c.fault("sieve", layout.SieveDir, "it does not know %s, whose answer is in %s (I2)", u, c.placeOfRecord(u.tag))
	}
	return nil
}

func (c *checker) fileOfPlace(p place) string {
	switch p {
	case onBench:
		return c.cut.WorkbenchFile()
	case onDisk:
		return layout.QueuesDir
	case isReady:
		return layout.ReadyDir
	case inFlight, isFinished:
		return c.cut.InFlightFile()
	default:
		return layout.ArchiveDir
	}
}

func (c *placeCheck) placeOfRecord(tag uint64) string {
	serial := uint32(tag >> serialShift & serialMask)
	return fmt.Sprintf("%s at %d", c.places.answers[serial], tag&offsetMask)
}

// compareAnswers compares the number of URLs with an answer and the number of URLs with a record of it (I2). The
// difference is the number of lost records; which URLs lost theirs is not known.
func (c *placeCheck) compareAnswers() {
	n := &c.cut.Counters
	var done int64
	for o := range outcome.Outcome(outcome.Count) {
		if o.Class() == outcome.ClassAnswer || o == outcome.TooManyRedirects { // whose last hop has a record
			done += n.Outcomes[o]
		}
	}
	p := c.places
	most := p.final + int64(p.robots) + p.hops + p.loose
	switch {
	case done+n.Outcomes[outcome.Unasked] < p.final: // a record does not say whether a 304 was asked for
		c.fault("counters", layout.ManifestFile, "%d URLs have a last answer, and the archive has that of %d (I2)",
			done, p.final)
	case done > most && !c.cut.Filtered:
		c.fault("counters", layout.ManifestFile,
			"%d URLs have a last answer, and the archive has that of %d, and %d that may be a robots.txt (I2)", done,
			p.final, most-p.final)
	}
}

// What an entry of the list of identities is: a record's own, or one that a record names. The former come first.
const (
	isRecord    place = 0
	isReference place = 1
)

// compareIDs looks for identities that two records have, and for those that a revisit names and no record has (I2).
func (c *placeCheck) compareIDs() error {
	var last extsort.Entry
	some := false
	for e, err := range c.places.ids.Sorted() {
		if err = errors.Join(err, c.ctx.Err()); err != nil {
			return err
		}
		switch known := some && e.Hi == last.Hi && e.Lo == last.Lo; {
		case place(e.Tag>>placeShift) == isReference:
			if !known && !c.hasRemoved {
				c.fault(areaArchive, c.placeOfRecord(e.Tag),
					"the revisit says that a record is unchanged which is not in the archive (I2)")
			}
			continue
		case known:
			c.fault(areaArchive, c.placeOfRecord(e.Tag), "its WARC-Record-ID is also that of the record in %s",
				c.placeOfRecord(last.Tag))
		}
		last, some = e, true
	}
	return nil
}

// opened is a component of the crawl that may not have been opened: there is none, or it is damaged. The zero value was
// not opened.
type opened[T any] struct {
	component T
	ok        bool
}

// set stores the component after it was opened.
func (o *opened[T]) set(component T) { o.component, o.ok = component, true }

// get returns the component, and whether it was opened.
func (o *opened[T]) get() (component T, ok bool) { return o.component, o.ok }
