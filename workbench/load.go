package workbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
)

// Load reads a chain: a full snapshot and, in order, the incremental snapshots that followed it. No site is leased
// afterwards. Everything else is restored, with due times by the wall clock. The next snapshot may be incremental. site
// decodes site data; it borrows b. A snapshot that is damaged, truncated, of another version or not the next of the
// chain is a vfs.CorruptError.
func Load[S any](o Options, site func(b []byte) (S, error), images ...io.Reader) (*Workbench[S], error) {
	w, err := load(o, site, &selection{all: true}, images)
	if err != nil {
		return nil, err
	}
	w.contents.sites.collectFree()
	w.contents.history.recording = true
	return w, nil
}

func load[S any](
	o Options, site func(b []byte) (S, error), selected *selection, images []io.Reader,
) (*Workbench[S], error) {
	if err := o.WithDefaults().Validate(); err != nil {
		return nil, err
	}
	if len(images) == 0 {
		return nil, errors.New("workbench: no snapshot to load")
	}
	w := New[S](o)
	l := loader[S]{contents: &w.contents, site: site, selected: selected}
	for i, in := range images {
		l.d.Reset(in, i)
		l.image()
		if l.d.Err != nil {
			return nil, l.d.Err
		}
	}
	return w, nil
}

type loader[S any] struct {
	contents  *contents[S]
	d         frameReader
	site      func(b []byte) (S, error)
	selected  *selection
	shift     int64 // from the base of the first snapshot's due times to that of this one
	last      uint64
	sites     uint64 // in the chain up to now
	siteCount uint64 // in this snapshot
	complete  bool

	ahead          []facts[S] // decoded and not yet inserted: see loadahead.go
	arena          []byte     // keys and items of ahead
	key, form, raw []byte     // scratch buffers
}

// image reads one snapshot of the chain.
func (l *loader[S]) image() {
	l.siteCount, l.complete = 0, false
	l.d.Magic()
	l.head()
	for l.d.Err == nil && !l.complete {
		if !l.selected.all {
			l.skim()
		}
		l.record()
	}
	l.contents.history.chainHash = l.d.ChainHash
}

func (l *loader[S]) head() {
	kind, first := l.d.Byte(), l.d.Image() == 0
	switch {
	case l.d.Err != nil:
		return
	case kind != recordHead && kind != recordChanges:
		l.d.Corrupt("the first record is no head")
	case (kind == recordHead) != first:
		l.d.Corrupt("the first snapshot must be full, the others incremental")
	case !first && l.d.Uvarint() != l.contents.history.chainHash:
		l.d.Corrupt("the changes do not belong to the snapshot before")
	}
	wall, last := l.d.Varint(), l.d.Uvarint()
	if first {
		l.contents.clock = restored(wall)
	}
	l.shift = wall - l.contents.clock.wall()
	l.contents.leases.lastID = l.d.Uvarint()
	if last > slabMax {
		l.d.Corrupt("too many sites")
	}
	l.last = last
}

func (l *loader[S]) record() {
	kind := l.d.Byte()
	if kind != recordSite {
		l.insertAhead()
	}
	switch {
	case l.d.Err != nil:
	case kind == recordIP:
		l.ip()
	case kind == recordSite:
		l.readAhead()
	case kind == recordEvicted:
		l.removeEvicted(l.d.Uvarint())
	case kind == recordEnd:
		l.complete = true
		if n, all := l.d.Uvarint(), l.d.Uvarint(); n != l.siteCount || l.selected.all && l.sites != all {
			l.d.Corrupt(
				fmt.Sprintf("%d of %d sites in this snapshot, %d of %d in the chain", l.siteCount, n, l.sites, all),
			)
		}
	default:
		l.d.Corrupt(fmt.Sprintf("unknown record kind %d", kind))
	}
}

// ip sets the due time of an address; noDue removes its entry.
func (l *loader[S]) ip() {
	addr, due, note := l.addr(), int64(0), uint64(0)
	if due = l.due(&note); note >= 1<<24 {
		l.d.Corrupt("invalid note")
	}
	if l.d.Err != nil || !l.selected.wantsAddr(addr) {
		return
	}
	c := l.contents
	id := c.ips.findOrAdd(addr)
	c.ips.at(id).setNote(uint32(note))
	c.ips.setDue(id, due)
}

// facts are the decoded fields of a site.
type facts[S any] struct {
	id, onDisk uint64
	at         placement
	flags      uint8
	addr       netip.Addr
	until, due int64
	data       S
	items      uint64

	key, raw     []byte // parts of the arena
	hash, byAddr uint64
	frame        int64 // offset of its frame
}

func (l *loader[S]) visitState(f *facts[S]) {
	c := l.contents
	known := c.sites.find(f.hash, f.key)
	switch {
	case f.id == 0 || f.id > l.last || c.sites.has(uint32(f.id)) != (known != 0) || (known != 0 && known != uint32(f.id)):
		l.d.Corrupt("invalid or repeated site")
		return
	case f.flags&^flagParked != 0 || (f.at == dead && (f.items > 0 || f.flags != 0)):
		l.d.Corrupt("invalid state of a site")
		return
	}
	l.siteCount++
	var s *site[S]
	if known == 0 {
		l.sites++
		s = c.add(f.hash, uint32(f.id), f.key)
	} else {
		s = c.sites.at(known)
		l.clear(s)
	}
	s.data, s.due, s.onDisk, s.placement, s.flags = f.data, f.due, f.onDisk, f.at, f.flags|s.flags&flagListed
	if f.at == dead && f.onDisk == 0 {
		s.flags |= flagDiskDropped
	}
	if f.items > 0 {
		s.queue = loadQueue(append([]byte(nil), f.raw...), int(f.items), c.items.urgentFlags)
		c.items.addLoaded(s.queue)
	}
	switch f.at {
	case addressed:
		c.ips.attach(s, c.ips.findOrAdd(f.addr))
	case deferred:
		c.makeDeferred(s, f.until)
	default:
	}
	c.reconcile(s, Unresolved)
}

// removeEvicted removes a site that was evicted. A site that was added and evicted between two snapshots is unknown
// here.
func (l *loader[S]) removeEvicted(id uint64) {
	c := l.contents
	if l.d.Err != nil || id == 0 || id > slabMax || !c.sites.has(uint32(id)) {
		return
	}
	s := c.sites.at(uint32(id))
	l.clear(s)
	if s.has(flagListed) {
		c.refill.remove(s.id)
	}
	c.remove(s)
	l.sites--
}

// clear undoes what an older snapshot of the chain set for a site: its queue, its place and all derived state.
func (l *loader[S]) clear(s *site[S]) {
	c, before := l.contents, s.state()
	c.items.dropQueue(&s.queue, nil)
	c.detach(s)
	s.flags, s.onDisk = s.flags&(flagHolds|flagListed), 0 // it may be on the refill list
	c.reconcile(s, before)
}

// facts reads a site. Its key goes to l.key, its items to l.raw.
func (l *loader[S]) facts() (f facts[S]) {
	f.id, l.key = l.d.Uvarint(), l.d.Bytes(l.key[:0])
	f.at, f.flags = placement(l.d.Byte()), l.d.Byte()
	switch f.at {
	case addressed:
		f.addr = l.addr()
	case deferred:
		f.until = l.due(nil)
	case unplaced, dead:
	default:
		l.d.Corrupt("invalid placement")
	}
	f.due, f.onDisk = l.due(nil), l.d.Uvarint()
	l.form = l.d.Bytes(l.form[:0])
	f.items = l.queue()
	if l.d.Err != nil {
		return f
	}
	var err error
	if f.data, err = l.site(l.form); err != nil {
		l.d.Err = fmt.Errorf("workbench: loading site %q: %w", l.key, err)
	}
	return f
}

func (l *loader[S]) addr() netip.Addr {
	l.raw = l.d.Bytes(l.raw[:0])
	addr, ok := netip.AddrFromSlice(l.raw)
	if !ok || addr != addr.Unmap() {
		l.d.Corrupt("invalid address")
	}
	return addr
}

// due reads a due time. If note is not nil, a note may follow.
func (l *loader[S]) due(note *uint64) int64 {
	kind := l.d.Byte()
	if kind == dueNone {
		return noDue
	}
	if kind != dueGiven && (kind != dueNoted || note == nil) {
		l.d.Corrupt("invalid due time")
		return noDue
	}
	due := l.d.Varint()
	if kind == dueNoted {
		*note = l.d.Uvarint()
	}
	if sum := due + l.shift; (sum > due) == (l.shift > 0) {
		due = sum
	}
	return max(due, noDue+1)
}

// queue reads the items of a site to l.raw and verifies that they are complete.
func (l *loader[S]) queue() (count uint64) {
	count = l.d.Uvarint()
	l.raw = l.d.Bytes(l.raw[:0])
	found := uint64(0)
	for b := l.raw; len(b) > 0 && l.d.Err == nil; found++ {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) || used != prefixLen(int(n)) {
			l.d.Corrupt("invalid item")
			return 0
		}
		b = b[used+int(n):]
	}
	if count != found {
		l.d.Corrupt("wrong number of items")
	}
	return count
}
