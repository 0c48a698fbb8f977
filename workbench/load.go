package workbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
)

// Load reads what Write and WriteChanges wrote: a whole image and, in order, those that followed it. Nothing is leased
// then; everything else is as it was, due times included, by the wall clock. The next cut may go on with changes. site
// turns the form of a Site back into it; it borrows b. An image that is damaged, cut short, of another version or not the
// one that follows is a CorruptError.
func Load[S any](o Options, site func(b []byte) (S, error), images ...io.Reader) (*Workbench[S], error) {
	if err := o.WithDefaults().Validate(); err != nil {
		return nil, err
	}
	if len(images) == 0 {
		return nil, errors.New("workbench: a snapshot of no images")
	}
	l := loader[S]{w: New[S](o), site: site}
	for i, in := range images {
		l.d = decoder{in: in, image: i, payload: l.d.payload[:0]}
		l.image()
		if l.d.err != nil {
			return nil, l.d.err
		}
	}
	l.free()
	l.w.history.listing = true
	return l.w, nil
}

type loader[S any] struct {
	w     *Workbench[S]
	d     decoder
	site  func(b []byte) (S, error)
	shift int64 // from the base of this image's due times to the first one's
	last  uint64
	sites uint64 // so far
	found uint64 // in this image
	over  bool

	ahead          []facts[S] // read, and not yet brought in: see loadahead.go
	arena          []byte     // their keys and items
	key, form, raw []byte     // scratch
}

// image reads one image.
func (l *loader[S]) image() {
	l.found, l.over = 0, false
	l.d.magic()
	l.head()
	for l.d.err == nil && !l.over {
		l.record()
	}
	l.w.history.stamp = l.d.stamp
}

func (l *loader[S]) head() {
	kind, first := l.d.byte(), l.d.image == 0
	switch {
	case l.d.err != nil:
		return
	case kind != recordHead && kind != recordChanges:
		l.d.corrupt("no head")
	case (kind == recordHead) != first:
		l.d.corrupt("the first image of a snapshot is whole, and no other is")
	case !first && l.d.uvarint() != l.w.history.stamp:
		l.d.corrupt("changes that do not follow the image before")
	}
	wall, last := l.d.varint(), l.d.uvarint()
	if first {
		l.w.clock = restored(wall)
	}
	l.shift = wall - l.w.clock.wall()
	l.w.leaseSeq = l.d.uvarint()
	if last > slabMax {
		l.d.corrupt("number of sites")
	}
	l.last = last
}

func (l *loader[S]) record() {
	kind := l.d.byte()
	if kind != recordSite {
		l.bringIn()
	}
	switch {
	case l.d.err != nil:
	case kind == recordIP:
		l.ip()
	case kind == recordSite:
		l.readAhead()
	case kind == recordGone:
		l.gone(l.d.uvarint())
	case kind == recordEnd:
		l.over = true
		if n, all := l.d.uvarint(), l.d.uvarint(); n != l.found || l.sites != all {
			l.d.corrupt(fmt.Sprintf("%d sites of %d, and %d of %d in all", l.found, n, l.sites, all))
		}
	default:
		l.d.corrupt(fmt.Sprintf("record of kind %d", kind))
	}
}

// ip sets the due time of an address; of one that was forgotten it is noDue.
func (l *loader[S]) ip() {
	addr, due, note := l.addr(), int64(0), uint64(0)
	if due = l.due(&note); note >= 1<<24 {
		l.d.corrupt("note")
	}
	if l.d.err != nil {
		return
	}
	w := l.w
	id := w.entryOf(addr)
	e := w.entries.at(id)
	e.due = due
	e.setNote(uint32(note))
	switch {
	case e.state != vacant:
		w.settleEntry(id)
	case due == noDue:
		w.vacant.remove(*w.places.at(id), w.ipPos)
		w.dropEntry(id)
	default:
		w.vacant.set(*w.places.at(id), due, id, w.ipPos)
	}
}

// facts are what an image says of a site.
type facts[S any] struct {
	id, onDisk uint64
	at         whereabouts
	flags      uint8
	addr       netip.Addr
	until, due int64
	data       S
	items      uint64

	key, raw     []byte // borrowed from the arena
	hash, byAddr uint64
	frame        int64 // where it began
}

func (l *loader[S]) visitState(f *facts[S]) {
	w := l.w
	known := w.find(f.hash, f.key)
	switch {
	case f.id == 0 || f.id > l.last || l.has(uint32(f.id)) != (known != 0) || (known != 0 && known != uint32(f.id)):
		l.d.corrupt("a site twice, or one too many")
		return
	case f.flags&^flagParked != 0 || (f.at == buried && (f.items > 0 || f.flags != 0)):
		l.d.corrupt("impossible state")
		return
	}
	l.found++
	var s *site[S]
	if known == 0 {
		l.sites++
		s = w.add(f.hash, uint32(f.id), f.key)
	} else {
		s = w.sites.at(known)
		l.clear(s)
	}
	s.data, s.due, s.onDisk, s.at, s.flags = f.data, f.due, f.onDisk, f.at, f.flags|s.flags&flagListed
	if f.at == buried && f.onDisk == 0 {
		s.flags |= flagLaid
	}
	if f.items > 0 {
		q := &pathQueue{buf: append([]byte(nil), f.raw...), size: len(f.raw), count: int(f.items)}
		s.queue = q
		w.queued += q.count
		w.itemBytes += queueWeight(q)
	}
	switch f.at {
	case addressed:
		w.attach(s, w.entryOf(f.addr))
	case deferred:
		w.putOff(s, f.until)
	default:
	}
	w.settle(s, Newborn)
}

// gone takes a site away that was evicted. It may have come and gone between two images.
func (l *loader[S]) gone(id uint64) {
	if l.d.err != nil || id == 0 || id > slabMax || !l.has(uint32(id)) {
		return
	}
	w, s := l.w, l.w.sites.at(uint32(id))
	l.clear(s)
	if s.has(flagListed) {
		w.refill = slices.DeleteFunc(w.refill, func(n uint32) bool { return n == s.id })
	}
	w.remove(s)
	l.sites--
}

// free notes which numbers nobody has.
func (l *loader[S]) free() {
	w := l.w
	for k := len(w.sites.chunks) - 1; k >= 0; k-- {
		for i := chunkLen - 1; w.sites.chunks[k] != nil && i >= 0; i-- {
			if id := uint32(k*chunkLen + i + 1); id <= w.sites.last && w.sites.at(id).id == 0 {
				w.sites.put(id)
			}
		}
	}
}

// clear takes away what an older image said of a site, as far as anything was derived from it.
func (l *loader[S]) clear(s *site[S]) {
	w, before := l.w, s.state()
	w.dropQueue(s, nil)
	w.detach(s)
	s.flags, s.onDisk = s.flags&(flagHolds|flagListed), 0 // it may be on the refill list
	w.settle(s, before)
}

// facts reads a site: its key to l.key, its items to l.raw.
func (l *loader[S]) facts() (f facts[S]) {
	f.id, l.key = l.d.uvarint(), l.d.bytes(l.key[:0])
	f.at, f.flags = whereabouts(l.d.byte()), l.d.byte()
	switch f.at {
	case addressed:
		f.addr = l.addr()
	case deferred:
		f.until = l.due(nil)
	case nowhere, buried:
	default:
		l.d.corrupt("whereabouts")
	}
	f.due, f.onDisk = l.due(nil), l.d.uvarint()
	l.form = l.d.bytes(l.form[:0])
	f.items = l.queue()
	if l.d.err != nil {
		return f
	}
	var err error
	if f.data, err = l.site(l.form); err != nil {
		l.d.err = fmt.Errorf("workbench: loading site %q: %w", l.key, err)
	}
	return f
}

func (l *loader[S]) has(id uint32) bool {
	return l.w.sites.has(id) && l.w.sites.at(id).id != 0
}

func (l *loader[S]) addr() netip.Addr {
	l.raw = l.d.bytes(l.raw[:0])
	addr, ok := netip.AddrFromSlice(l.raw)
	if !ok || addr != addr.Unmap() {
		l.d.corrupt("address")
	}
	return addr
}

// due reads a due time, and the note that may follow it if there can be one.
func (l *loader[S]) due(note *uint64) int64 {
	kind := l.d.byte()
	if kind == dueNone {
		return noDue
	}
	if kind != dueGiven && (kind != dueNoted || note == nil) {
		l.d.corrupt("due time")
		return noDue
	}
	due := l.d.varint()
	if kind == dueNoted {
		*note = l.d.uvarint()
	}
	if sum := due + l.shift; (sum > due) == (l.shift > 0) {
		due = sum
	}
	return max(due, noDue+1)
}

// queue reads a site's items to l.raw and makes sure that they are whole.
func (l *loader[S]) queue() (count uint64) {
	count = l.d.uvarint()
	l.raw = l.d.bytes(l.raw[:0])
	found := uint64(0)
	for b := l.raw; len(b) > 0 && l.d.err == nil; found++ {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) || used != prefixLen(int(n)) {
			l.d.corrupt("item")
			return 0
		}
		b = b[used+int(n):]
	}
	if count != found {
		l.d.corrupt("number of items")
	}
	return count
}
