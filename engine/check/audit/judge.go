package audit

import (
	"bytes"
	"fmt"
	"slices"

	"orbweaver/engine/peering/ring"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/extsort"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// A capture is sorted by the key of its host, and then by what is left of its URL's fingerprint beside the number of
// its agent. The tag is its place.
const (
	dirBits     = 8
	dirsMax     = 1 << dirBits
	offsetBits  = 40
	offsetMask  = 1<<offsetBits - 1
	serialsMax  = 1 << (64 - offsetBits)
	fingerprint = ^uint64(dirsMax - 1)
)

func captureEntry(url []byte, dir int, at warc.Position) extsort.Entry {
	fp := urlx.Fingerprint(0, url)
	return extsort.Entry{
		Hi:  ring.Key(urlx.Host(url)),
		Lo:  fp.Lo&fingerprint | uint64(dir),
		Tag: uint64(at.Serial)<<offsetBits | uint64(at.Offset)&offsetMask,
	}
}

func placeOf(e extsort.Entry) warc.Position {
	return warc.Position{Serial: uint32(e.Tag >> offsetBits), Offset: int64(e.Tag & offsetMask)}
}

// readIndexes gathers all captures that may be answers.
func (a *auditor) readIndexes() error {
	for n, one := range a.agents {
		files, err := one.files()
		if err != nil {
			return err
		}
		for _, info := range files {
			if err := a.progress(one, layout.ArchiveDir+"/"+info.Index()); err != nil {
				return err
			}
			if info.Serial >= serialsMax {
				return fmt.Errorf("audit: %s: the serial number is too large", info.Name)
			}
			err := one.lines(info, func(_ []byte, said *cdxj.Line) error {
				if !capture.MayBeAnswer(said) {
					return nil
				}
				one.report.Captures++
				one.report.Bytes += said.Length
				return a.urls.Add(captureEntry(said.URL, n, warc.Position{Serial: info.Serial, Offset: said.Offset}))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// judge finds the pages that several agents have.
func (a *auditor) judge() error {
	var page []extsort.Entry
	same := func(x, y extsort.Entry) bool { return x.Hi == y.Hi && x.Lo&fingerprint == y.Lo&fingerprint }
	for e, err := range a.urls.Sorted() {
		if err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		if len(page) > 0 && !same(page[0], e) {
			if err := a.judgePage(page); err != nil {
				return err
			}
			page = page[:0]
		}
		page = append(page, e)
	}
	return a.judgePage(page)
}

// pageCopy is a record that was read.
type pageCopy struct {
	dir    int
	at     warc.Position
	length int64
	url    []byte
}

// judgePage looks at the captures of one URL. If several agents have some, their records are read: only answers count,
// and what seems one URL may be two.
func (a *auditor) judgePage(page []extsort.Entry) error {
	if len(page) == 0 {
		return nil
	}
	if page[0].Lo == page[len(page)-1].Lo { // all of one agent
		a.report.Pages++
		a.agents[page[0].Lo&^fingerprint].report.Pages++
		return nil
	}
	var all []pageCopy
	for _, e := range page {
		c := pageCopy{dir: int(e.Lo &^ fingerprint), at: placeOf(e)}
		one := a.agents[c.dir]
		isAnswer := false
		rec, err := one.archive.ReadStart(c.at, warc.StartMost)
		if err == nil {
			isAnswer, err = capture.IsAnswer(rec)
		}
		if err != nil {
			return fmt.Errorf("audit: %s: %w; orbweaver fsck %s says more", one.dir, err, one.dir)
		}
		c.length, c.url = rec.Length, rec.TargetURI
		if isAnswer {
			all = append(all, c)
		}
	}
	slices.SortStableFunc(all, func(x, y pageCopy) int { return bytes.Compare(x.url, y.url) })
	for len(all) > 0 {
		n := slices.IndexFunc(all, func(c pageCopy) bool { return !bytes.Equal(c.url, all[0].url) })
		if n < 0 {
			n = len(all)
		}
		if err := a.settle(page[0].Hi, all[:n]); err != nil {
			return err
		}
		all = all[n:]
	}
	return nil
}

// settle decides whose captures of one URL count.
func (a *auditor) settle(host uint64, all []pageCopy) error {
	a.report.Pages++
	var holders []int
	for _, c := range all {
		if len(holders) == 0 || holders[len(holders)-1] != c.dir {
			holders = append(holders, c.dir)
		}
	}
	wins, err := a.rings.owner(a.agents, holders, host)
	if err != nil {
		return err
	}
	a.agents[wins].report.Pages++
	if len(holders) == 1 {
		return nil
	}
	a.report.Shared++
	for _, c := range all {
		if c.dir == wins {
			continue
		}
		told := &a.agents[c.dir].report
		told.Superseded++
		told.SupersededBytes += c.length
		e := markEntry(c.dir, c.at, wins)
		if err := a.wanted.Add(e); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
		if !a.o.Mark {
			continue
		}
		if err := a.marks.Add(e); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
	}
	return nil
}

// rings are the assignments to some agents alone, by their numbers, as they were needed.
type rings map[string]ring.Assignment

// owner is the agent that would own a host if there were no other agents than these.
func (r rings) owner(agents []*agent, some []int, host uint64) (int, error) {
	if len(some) == 1 {
		return some[0], nil
	}
	name := fmt.Sprint(some)
	who := r[name]
	if who == nil {
		members := make([]ring.Member, len(some))
		for k, n := range some {
			members[k] = ring.Member{ID: agents[n].id, Capacity: agents[n].report.Capacity}
		}
		var err error
		if who, err = ring.NewConsistent(members, ring.DefaultReplicas); err != nil {
			return 0, fmt.Errorf("audit: %w", err)
		}
		r[name] = who
	}
	return some[who.Owner(host)], nil // both are in the order of names
}
