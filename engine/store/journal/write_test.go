package journal

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"syscall"
	"testing"
	"time"

	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/limits"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
	"orbweaver/warc"
)

// office is a ledger on a disk in memory, and workers with postings for it.
type office struct {
	ledger *Store
	mem    *vfs.Mem
	script *faultfs.Script
	limits *limits.Limits
}

func newOffice(t *testing.T, o warc.Options, pagesMax int64) *office {
	t.Helper()
	f := &office{
		mem:    vfs.NewMem(1),
		script: faultfs.NewScript(),
		limits: &limits.Limits{PagesMax: pagesMax, Finish: func(string) {}},
	}
	fsys := faultfs.New(f.mem, f.script)
	o.Dir = "warc"
	w, err := warc.OpenWriter(fsys, o, nil)
	if err == nil {
		err = fsys.MkdirAll("frontier")
	}
	if err != nil {
		t.Fatal(err)
	}
	j, err := Create(fsys, "frontier", 1)
	if err == nil {
		err = j.Follow(nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	known, err := dedup.Open(fsys, dedup.Options{Dir: "seen", MemoryBytes: 1 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.ledger = &Store{Writer: w, Journal: j, Seen: known, Long: make(chan struct{}, 1)}
	t.Cleanup(func() {
		if err := errors.Join(known.Close(), f.ledger.Close(), w.Abandon()); err != nil {
			t.Error(err)
		}
	})
	return f
}

// posting is a stored page whose payload is this one.
func (f *office) posting(t *testing.T, url string, payload byte) *Pending {
	t.Helper()
	enc, err := warc.NewEncoder(warc.EncoderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	p := NewPending(f.limits)
	if err := fill(p, enc, url, payload); err != nil {
		t.Fatal(err)
	}
	return p
}

func fill(p *Pending, enc *warc.Encoder, url string, payload byte) error {
	enc.Reset()
	r := warc.Record{Type: warc.Response, Date: time.Unix(1, 0), TargetURI: []byte(url), Block: [][]byte{
		fmt.Appendf(nil, "HTTP/1.1 200 OK\r\n\r\n%0*d", rand.IntN(5000), payload),
	}}
	if err := enc.Append(&r); err != nil {
		return err
	}
	p.Entry = Entry{Kind: KindPage, Outcome: outcome.OK, FP: urlx.Fingerprint(1, []byte(url))}
	p.Group = enc.Group()
	p.Claim, p.Page = NewClaim(dedup.Digest{payload}, dedup.First{RecordID: r.ID, URI: url, Date: r.Date}), true
	return nil
}

// writeTogether writes postings as if their workers had met at the commit lock.
func (f *office) writeTogether(t *testing.T, ps ...*Pending) {
	t.Helper()
	for _, p := range ps {
		if p.Group.Len() > 0 {
			if err := f.ledger.Writer.Ready(p.Group); err != nil {
				t.Fatal(err)
			}
		}
	}
	f.ledger.commit.Lock()
	defer f.ledger.commit.Unlock()
	f.ledger.writeAll(ps)
}

// named reads the journal and what it names in the archive: fingerprints of the entries, in order. Each must name the
// record of its own URL, and in the order of the archive.
func (f *office) named(t *testing.T) (all []Entry) {
	t.Helper()
	archive := warc.OpenArchive(f.mem, "warc")
	end := warc.Checkpoint{}
	_, err := Read(f.mem, Name("frontier", 1), func(e *Entry) error {
		all = append(all, *e)
		if e.Serial == 0 {
			return nil
		}
		pos := warc.Position{Serial: e.Serial - 1, Offset: e.Offset, Length: e.Length}
		if (warc.Checkpoint{Serial: pos.Serial, Length: pos.Offset}).Before(end) {
			t.Errorf("entry %d names %+v, before %+v", len(all), pos, end)
		}
		end = pos.End()
		group, _, err := archive.ReadGroup(pos)
		if err == nil && (len(group) != 1 || urlx.Fingerprint(1, group[0].TargetURI) != e.FP) {
			t.Errorf("entry %d names the record of %s", len(all), group[0].TargetURI)
		}
		return err
	})
	if err = errors.Join(err, archive.Close()); err != nil {
		t.Fatal(err)
	}
	records := 0
	for _, e := range all {
		records += int(min(e.Serial, 1))
	}
	if n := f.ledger.Writer.Stats().Groups; int(n) != records {
		t.Errorf("%d groups in the archive, and %d are named", n, records)
	}
	if end != f.ledger.Writer.Checkpoint() {
		t.Errorf("the archive ends at %+v, and the journal at %+v", f.ledger.Writer.Checkpoint(), end)
	}
	return all
}

func url(n int) string { return fmt.Sprintf("http://h.test/%d", n) }

// Workers that meet at the lock are written together: in order, each with its place, those without records too, and
// over the end of a file.
func TestPostings_writtenTogetherStandInOrder(t *testing.T) {
	f := newOffice(t, warc.Options{SizeMax: 1 << 12}, 0)
	var ps []*Pending
	for n := range 60 {
		if n%7 == 3 || n == 59 {
			ps = append(ps, entry(Entry{Kind: KindPage, Depth: n, Links: make([]byte, n)}))
			continue
		}
		ps = append(ps, f.posting(t, url(n), byte(n)))
	}
	f.writeTogether(t, ps...)
	for n, p := range ps {
		if p.err != nil {
			t.Fatalf("%d: %v", n, p.err)
		}
	}
	all := f.named(t)
	if len(all) != len(ps) {
		t.Fatalf("%d entries of %d", len(all), len(ps))
	}
	for n := range all {
		if all[n].FP != ps[n].Entry.FP || all[n].Serial != ps[n].Entry.Serial || all[n].Offset != ps[n].Entry.Offset ||
			len(all[n].Links) != len(ps[n].Entry.Links) {
			t.Errorf("%d: %+v, posted was %+v", n, all[n], ps[n].Entry)
		}
	}
	if last := ps[58].Entry.Serial; last < 3 {
		t.Errorf("all in %d files: no file was full", last)
	}
}

// Of equal payloads that meet at the lock the first is stored, and the others are told to look again.
func TestPostings_ofEqualPayloadsOneIsStored(t *testing.T) {
	f := newOffice(t, warc.Options{}, 0)
	ps := []*Pending{f.posting(t, url(0), 7), f.posting(t, url(1), 8), f.posting(t, url(2), 7), f.posting(t, url(3), 7)}
	f.writeTogether(t, ps...)
	later := f.posting(t, url(4), 8)
	if err := f.ledger.Write(later); !errors.Is(err, ErrDuplicate) {
		t.Errorf("a payload that was stored before: %v", err)
	}
	if ps[0].err != nil || ps[1].err != nil || !errors.Is(ps[2].err, ErrDuplicate) ||
		!errors.Is(ps[3].err, ErrDuplicate) {
		t.Errorf("%v, %v, %v, %v", ps[0].err, ps[1].err, ps[2].err, ps[3].err)
	}
	if first, ok, err := f.ledger.Seen.Lookup(dedup.Digest{7}); err != nil || !ok || first.URI != url(0) {
		t.Errorf("the first is %+v, %t, %v", first, ok, err)
	}
	if n := len(f.named(t)); n != 2 {
		t.Errorf("%d entries", n)
	}
}

// The limit of pages is exact, also for those that are written together.
func TestPostings_theLimitOfPagesIsExact(t *testing.T) {
	f := newOffice(t, warc.Options{}, 2)
	ps := []*Pending{f.posting(t, url(0), 0), f.posting(t, url(1), 1), f.posting(t, url(2), 2)}
	f.writeTogether(t, ps...)
	if ps[0].err != nil || ps[1].err != nil || !errors.Is(ps[2].err, ErrPageLimit) {
		t.Errorf("%v, %v, %v", ps[0].err, ps[1].err, ps[2].err)
	}
	if n := len(f.named(t)); n != 2 {
		t.Errorf("%d entries", n)
	}
}

// When the disk refuses archive or journal, nothing of the group is there and no page of the
// limit is taken; the same postings can be written later.
func TestPostings_aRefusalIsOfAll(t *testing.T) {
	for what, rule := range map[string]faultfs.Rule{
		// its warcinfo record comes first
		"archive": {Op: faultfs.Write, Name: "*.open", From: 2, Count: 1, Err: syscall.ENOSPC},
		"journal": {Op: faultfs.Write, Name: "journal-*", From: 1, Count: 1, Err: syscall.EIO},
	} {
		t.Run(what, func(t *testing.T) {
			f := newOffice(t, warc.Options{}, 3)
			ps := []*Pending{
				f.posting(t, url(0), 0),
				f.posting(t, url(1), 1),
				entry(Entry{Kind: KindPage}),
				f.posting(t, url(2), 2),
			}
			f.script.Add(rule)
			f.writeTogether(t, ps...)
			for n, p := range ps {
				if !errors.Is(p.err, rule.Err) {
					t.Errorf("%d: %v", n, p.err)
				}
			}
			if n := f.limits.Pages; n != 0 {
				t.Errorf("%d pages are taken", n)
			}
			f.writeTogether(t, ps...)
			for n, p := range ps {
				if p.err != nil {
					t.Errorf("%d, again: %v", n, p.err)
				}
			}
			if n := len(f.named(t)); n != len(ps) || f.limits.Pages != 3 {
				t.Errorf("%d entries, %d pages", n, f.limits.Pages)
			}
		})
	}
}

// Many workers at once: each posting is there once, and names its own record.
func TestPostings_ofManyWorkers(t *testing.T) {
	const workers, each = 24, 40
	f := newOffice(t, warc.Options{SizeMax: 1 << 16}, 0)
	var g sync.WaitGroup
	for i := range workers {
		p := f.posting(t, url(0), 0)
		enc, err := warc.NewEncoder(warc.EncoderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		g.Go(func() {
			for n := range each {
				err := fill(p, enc, url(i*each+n), 0)
				p.Claim, p.Page = Claim{}, false
				if err = errors.Join(err, f.ledger.Write(p)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	g.Wait()
	count := map[uint64]int{}
	for _, e := range f.named(t) {
		count[e.FP.Lo]++
	}
	if len(count) != workers*each {
		t.Errorf("%d different entries of %d", len(count), workers*each)
	}
}

// What a page costs under the commit lock, on a real disk, when so many meet there: records of five kilobytes and a
// journal entry each.
func BenchmarkPostings(b *testing.B) {
	for _, together := range []int{1, 2, 4, 8, 16, 32} {
		b.Run(fmt.Sprintf("together=%d", together), func(b *testing.B) {
			dir := b.TempDir()
			fsys := vfs.Disk()
			w, err := warc.OpenWriter(fsys, warc.Options{Dir: dir + "/warc"}, nil)
			if err != nil {
				b.Fatal(err)
			}
			j, err := Create(fsys, dir, 1)
			if err != nil {
				b.Fatal(err)
			}
			l := &Store{Writer: w, Journal: j, Long: make(chan struct{}, 1)}
			noise := make([]byte, 5000)
			_, _ = rand.NewChaCha8([32]byte{}).Read(noise) // it does not compress, and never fails
			ps := make([]*Pending, together)
			for i := range ps {
				enc, err := warc.NewEncoder(warc.EncoderOptions{})
				if err != nil {
					b.Fatal(err)
				}
				r := warc.Record{
					Type:      warc.Response,
					Date:      time.Unix(1, 0),
					TargetURI: []byte(url(i)),
					Block:     [][]byte{noise},
				}
				if err := enc.Append(&r); err != nil {
					b.Fatal(err)
				}
				ps[i] = NewPending(nil)
				ps[i].Entry = Entry{Kind: KindPage, Outcome: outcome.OK, FP: urlx.Fingerprint(1, r.TargetURI)}
				ps[i].Group = enc.Group()
			}
			for page := 0; b.Loop(); page++ {
				if page%together > 0 {
					continue // in company of the next
				}
				l.commit.Lock()
				l.writeAll(ps)
				l.commit.Unlock()
				for _, p := range ps {
					if p.err != nil {
						b.Fatal(p.err)
					}
				}
			}
			if err := errors.Join(l.Close(), w.Abandon()); err != nil {
				b.Fatal(err)
			}
		})
	}
}
