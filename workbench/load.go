package workbench

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"net/netip"
)

// Load reads what Save wrote. Nothing is leased then; everything else is as it was, due times included, by the wall
// clock. site turns the form of a Site back into it; it borrows b. A snapshot that is damaged, cut short or of another
// version is a CorruptError.
func Load[S any](in io.Reader, o Options, site func(b []byte) (S, error)) (*Workbench[S], error) {
	if err := o.WithDefaults().Validate(); err != nil {
		return nil, err
	}
	l := loader[S]{w: New[S](o), d: decoder{in: in}, site: site}
	l.d.magic()
	l.head()
	for l.d.err == nil && !l.over {
		l.record()
	}
	if l.d.err != nil {
		return nil, l.d.err
	}
	return l.w, nil
}

type loader[S any] struct {
	w     *Workbench[S]
	d     decoder
	site  func(b []byte) (S, error)
	last  uint64
	count uint64
	over  bool
}

func (l *loader[S]) head() {
	if kind := l.d.byte(); kind != recordHead {
		l.d.corrupt("no head")
	}
	l.w.clock = restored(l.d.varint())
	l.last = l.d.uvarint()
	l.w.leaseSeq = l.d.uvarint()
	if l.last > math.MaxUint32 {
		l.d.corrupt("too many sites")
	}
}

func (l *loader[S]) record() {
	switch kind := l.d.byte(); {
	case l.d.err != nil:
	case kind == recordIP:
		l.ip()
	case kind == recordSite:
		l.visitState()
	case kind == recordEnd:
		l.over = true
		if n := l.d.uvarint(); n != l.count || l.count != l.last {
			l.d.corrupt(fmt.Sprintf("%d sites of %d, %d expected", l.count, l.last, n))
		}
	default:
		l.d.corrupt(fmt.Sprintf("record of kind %d", kind))
	}
}

func (l *loader[S]) ip() {
	addr, due := l.addr(), l.due()
	if l.d.err != nil {
		return
	}
	e := l.w.entryOf(addr)
	e.due = max(e.due, due)
	if e.vacant {
		l.w.vacant.set(e.pos, e.due, e.id, l.w.ipPos)
		return
	}
	l.w.settleEntry(e)
}

func (l *loader[S]) visitState() {
	id, key := l.d.uvarint(), l.d.bytes()
	at, flags := whereabouts(l.d.byte()), l.d.byte()
	var addr netip.Addr
	var until int64
	switch at {
	case addressed:
		addr = l.addr()
	case deferred:
		until = l.due()
	case nowhere, buried:
	default:
		l.d.corrupt("whereabouts")
	}
	due, onDisk := l.due(), l.d.uvarint()
	s, err := l.site(l.d.bytes())
	if err != nil && l.d.err == nil {
		l.d.err = fmt.Errorf("workbench: loading site %q: %w", key, err)
	}
	q := l.queue()
	hash := maphash.Bytes(l.w.seed, key)
	switch {
	case l.d.err != nil:
		return
	case id == 0 || id > l.last || l.has(uint32(id)) || l.w.get(hash, key) != nil:
		l.d.corrupt("a site twice, or one too many")
		return
	case flags&^flagParked != 0 || (at == buried && (q != nil || flags != 0)):
		l.d.corrupt("impossible state")
		return
	}
	l.count++
	vs := l.w.add(hash, uint32(id), key)
	vs.Site, vs.due, vs.onDisk, vs.at, vs.flags, vs.queue = s, due, onDisk, at, flags, q
	if q != nil {
		l.w.queued += q.count
		l.w.itemBytes += queueWeight(q)
	}
	switch at {
	case addressed:
		l.w.attach(vs, l.w.entryOf(addr))
	case deferred:
		l.w.putOff(vs, until)
	default:
	}
	l.w.settle(vs, Newborn)
}

func (l *loader[S]) has(id uint32) bool {
	k := int((id - 1) / chunkLen)
	return k < len(l.w.sites) && l.w.sites[k] != nil && l.w.site(id).id != 0
}

func (l *loader[S]) addr() netip.Addr {
	addr, ok := netip.AddrFromSlice(l.d.bytes())
	if !ok || addr != addr.Unmap() {
		l.d.corrupt("address")
	}
	return addr
}

func (l *loader[S]) due() int64 {
	switch l.d.byte() {
	case 0:
		return noDue
	case 1:
		return max(l.d.varint(), noDue+1)
	default:
		l.d.corrupt("due time")
		return noDue
	}
}

// queue reads a site's items and makes sure that they are whole; nil if there are none.
func (l *loader[S]) queue() *pathQueue {
	count, raw := l.d.uvarint(), l.d.bytes()
	found := uint64(0)
	for b := raw; len(b) > 0 && l.d.err == nil; found++ {
		n, used := binary.Uvarint(b)
		if used <= 0 || n > uint64(len(b)-used) || used != prefixLen(int(n)) {
			l.d.corrupt("item")
			return nil
		}
		b = b[used+int(n):]
	}
	if count != found {
		l.d.corrupt("number of items")
	}
	if count == 0 || l.d.err != nil {
		return nil
	}
	return &pathQueue{buf: raw, size: len(raw), count: int(count)}
}
