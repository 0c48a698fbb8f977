package gaps

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/robotsanswer"
	"orbweaver/engine/state/site"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

// reader turns records into exchanges of both lists.
type reader struct {
	*auditor
	redirects robotsanswer.Chains[redirect]
	decoder   *coding.Decoder

	// of the file
	file   int
	dir    int
	stated era // of the last warcinfo record
	era    int

	// the last capture, until all records beside it were read
	last      exchange
	lastSite  uint64
	lastAddr  uint64 // hash of the key of its address; 0 if it is unknown
	ipIdle    int64
	lastID    warc.ID
	hasLast   bool
	url       []byte // its normal form
	announced announcement
}

// readFile reads one file up to its end, or to the torn end of a file that is being written.
func (r *reader) readFile(number int) (err error) {
	in := &r.files[number]
	file, err := r.fsys.Open(in.name)
	if err != nil {
		return fmt.Errorf("gaps: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r.file, r.dir = number, in.dir
	r.setEra(era{delays: Unstated()})
	z := warc.NewReader(io.NewSectionReader(file, 0, in.size), warc.ReaderOptions{Name: in.name, Unbounded: true})
	defer z.Close()
	err = warc.ScanRecords(z, func(rec *warc.RecordRead) error {
		if err := r.tick(rec.Offset); err != nil {
			return err
		}
		return r.record(rec)
	}, func(f *warc.Fault) error {
		if !in.isOpen || !errors.Is(f, member.ErrTruncated) {
			r.report.DamagedPlaces++
		}
		return nil
	})
	return errors.Join(err, r.flush())
}

// setEra sets what holds for the records that follow.
func (r *reader) setEra(one era) {
	one.dir = r.dir
	r.stated, r.era = one, r.eras.number(one)
}

// record takes one record.
func (r *reader) record(rec *warc.RecordRead) error {
	switch rec.Type {
	case warc.Warcinfo:
		if _, err := rec.ReadBlock(blockMost); err != nil {
			return err
		}
		r.setEra(statedIn(rec))
		r.report.addStated(r.stated.delays.orElse(r.o.Stated), r.stated.isProxy)
	case warc.Response, warc.Revisit, warc.Resource:
		if err := r.flush(); err != nil {
			return err
		}
		return r.capture(rec)
	case warc.Metadata:
		if !r.hasLast || r.last.took >= 0 || !r.isBeside(rec) {
			return nil
		}
		if _, err := rec.ReadBlock(blockMost); err != nil {
			return err
		}
		r.last.takeFetchTime(rec.Block)
	default:
	}
	return nil
}

// blockMost is the longest block that is read whole.
const blockMost = 64 << 20

// isBeside reports whether a record says more about the last capture.
func (r *reader) isBeside(rec *warc.RecordRead) bool {
	for _, name := range []string{"WARC-Concurrent-To", "WARC-Refers-To"} {
		if id, err := warc.ParseID(rec.Get(name)); err == nil && id == r.lastID {
			return true
		}
	}
	return false
}

// capture begins an exchange.
func (r *reader) capture(rec *warc.RecordRead) (err error) {
	isFetched := rec.Type != warc.Resource || rec.Get("WARC-IP-Address") != "" // not made by a program
	if rec.IsDNS() || !isFetched || !bytes.HasPrefix(rec.TargetURI, []byte("http")) {
		return nil
	}
	r.url, err = urlx.Normalize(r.url[:0], rec.TargetURI)
	if err != nil || microsOf(rec.Date) < 0 {
		r.report.Undated++
		return rec.Skip()
	}
	site, path := urlx.Split(r.url)
	x := &r.last
	*x = newExchange(microsOf(rec.Date))
	x.era, x.place = r.era, placeAt(r.file, rec.Offset)
	if isCoarse(rec) {
		x.flags |= coarseStart
	}
	var group string
	r.ipIdle, group = x.takeField(rec)
	r.lastAddr = r.addressOf(rec)
	if group != "" { // its sites share a delay, also behind a proxy
		r.lastAddr = max(xxh3.HashString("group "+group), 1)
	}
	r.lastSite, r.lastID = xxh3.Hash(site), rec.ID
	r.announced = announcement{delay: noDelay}
	from, isExpected := r.redirects.Take(r.url)
	switch {
	case rec.Type == warc.Resource:
	case isExpected:
		err = r.robots(rec, from)
	case string(path) == robots.FilePath:
		err = r.robots(rec, redirect{site: r.lastSite})
	default:
		err = r.head(rec)
	}
	if err == nil {
		err = rec.Skip()
	}
	if err != nil {
		return err
	}
	r.hasLast = true
	return nil
}

// addressOf returns the hash of the key of the server's address; 0 if it is unknown.
func (r *reader) addressOf(rec *warc.RecordRead) uint64 {
	addr, err := netip.ParseAddr(rec.Get("WARC-IP-Address"))
	if err != nil || r.stated.isProxy {
		return 0
	}
	bits := r.stated.delays.orElse(r.o.Stated).IPv6Prefix
	key := politeness.AddrKeys(bits).KeyOf(addr).As16()
	return max(xxh3.Hash(key[:]), 1)
}

// head reads the status, and how long the server asks to wait.
func (r *reader) head(rec *warc.RecordRead) error {
	head, _, err := rec.HTTP(false)
	var damage *warc.Fault
	if errors.As(err, &damage) {
		return err
	}
	if err != nil {
		return nil //nolint:nilerr // no HTTP: the exchange counts, and asks for nothing
	}
	r.retryAfter(head.Status, head.Raw, false)
	return nil
}

// retryAfter notes how long the server asks to wait: see politeness.PageRetryAfter.
func (r *reader) retryAfter(status int, head []byte, isRobots bool) {
	if status != 429 && status != 503 {
		return
	}
	end, _ := r.last.end()
	asked, ok := fetch.Head(head).RetryAfter(dateOf(end))
	if isOfPage := asked.Wait > politeness.PageRetryAfter && !isRobots && !site.IsRoot(r.url); ok && !isOfPage {
		r.last.patience = asked.Wait.Microseconds()
	}
}

// flush adds the last capture to the lists, and what it says of the Crawl-delay of a site.
func (r *reader) flush() error {
	if !r.hasLast {
		return nil
	}
	r.hasLast = false
	x, said := &r.last, &r.announced
	switch {
	case said.delay == noDelay:
	case said.site == r.lastSite:
		x.announce = said.delay
	default:
		end, _ := x.end()
		other := newExchange(end)
		other.era, other.place, other.announce, other.flags = x.era, x.place, said.delay, isAnnounced
		if err := r.bySite.add(said.site, &other); err != nil {
			return err
		}
	}
	r.report.note(x)
	if r.lastAddr == 0 {
		r.report.WithoutAddr++
	} else {
		one := *x
		one.idle, one.patience, one.announce, one.limit = r.ipIdle, 0, noDelay, -1
		if err := r.byAddress.add(r.lastAddr, &one); err != nil {
			return err
		}
	}
	return r.bySite.add(r.lastSite, x)
}
