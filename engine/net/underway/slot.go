package underway

import (
	"encoding/binary"
	"net/netip"
	"sync/atomic"
	"time"
)

// URLMax is how much of a URL a slot keeps, in bytes.
const URLMax = 256

// Slot is what one worker does now. All words are atomic, since readers copy them while the worker writes. The sequence
// number is odd while the worker writes.
type Slot struct {
	sequence atomic.Uint64
	began    atomic.Int64 // Unix time in nanoseconds; 0: no exchange is under way
	facts    atomic.Uint64
	addr     [2]atomic.Uint64
	url      [URLMax / 8]atomic.Uint64
	progress Progress
	_        [64]byte // the slots of two workers share no cache line
}

// Progress is how much of its responses one worker has received. Only this worker adds to it, one word for each read;
// others may read it at any time.
type Progress struct {
	received atomic.Int64 // in all exchanges of this run
	before   atomic.Int64 // received, when the current exchange began
	length   atomic.Int64 // of the current response; 0: not declared, or not known yet
}

// Add counts bytes of the current exchange.
func (p *Progress) Add(n int) { p.received.Add(int64(n)) }

// Expect notes how long the current response will be, head included.
func (p *Progress) Expect(length int64) { p.length.Store(length) }

// begin begins an exchange.
func (p *Progress) begin() {
	p.before.Store(p.received.Load())
	p.length.Store(0)
}

// Parts of the word facts.
const (
	lengthBits    = 16 // of the URL, in bytes
	kindShift     = lengthBits
	triesShift    = kindShift + 8
	portShift     = triesShift + 16
	addrShift     = portShift + 16 // 0: no address; 1: IPv4; 2: IPv6
	truncatedFlag = 1 << 63
)

// begin publishes an exchange.
func (s *Slot) begin(e *Exchange) {
	url, facts := e.URL, uint64(0)
	if len(url) > URLMax {
		url, facts = url[:URLMax], truncatedFlag
	}
	facts |= uint64(len(url)) | uint64(e.Kind)<<kindShift | uint64(uint16(min(e.Tries, 1<<16-1)))<<triesShift |
		uint64(e.Port)<<portShift
	s.sequence.Add(1)
	if e.Addr.IsValid() {
		facts |= 1 << addrShift
		if e.Addr.Is6() && !e.Addr.Is4In6() {
			facts += 1 << addrShift
		}
		b := e.Addr.As16()
		s.addr[0].Store(binary.LittleEndian.Uint64(b[:8]))
		s.addr[1].Store(binary.LittleEndian.Uint64(b[8:]))
	}
	for i := 0; len(url) > 0; i++ {
		if len(url) >= 8 {
			s.url[i].Store(binary.LittleEndian.Uint64(url))
			url = url[8:]
			continue
		}
		var rest [8]byte
		copy(rest[:], url)
		s.url[i].Store(binary.LittleEndian.Uint64(rest[:]))
		break
	}
	s.progress.begin()
	s.facts.Store(facts)
	s.began.Store(e.Began.UnixNano())
	s.sequence.Add(1)
}

// end publishes that no exchange is under way.
func (s *Slot) end() { s.began.Store(0) }

// read copies the exchange; false if there is none, or if the worker has changed the slot during each try.
func (s *Slot) read() (e Exchange, ok bool) {
	const tries = 8
	for range tries {
		before := s.sequence.Load()
		began := s.began.Load()
		if began == 0 {
			return e, false
		}
		if before%2 == 0 {
			e = s.copied()
			e.Began = time.Unix(0, began)
			if s.sequence.Load() == before && s.began.Load() == began {
				return e, true
			}
		}
	}
	return Exchange{}, false
}

// copied decodes the words of the slot.
func (s *Slot) copied() (e Exchange) {
	facts := s.facts.Load()
	e.Kind, e.Truncated = Kind(facts>>kindShift), facts&truncatedFlag != 0
	e.Tries, e.Port = int(uint16(facts>>triesShift)), uint16(facts>>portShift)
	if family := facts >> addrShift & 3; family != 0 {
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:8], s.addr[0].Load())
		binary.LittleEndian.PutUint64(b[8:], s.addr[1].Load())
		if e.Addr = netip.AddrFrom16(b); family == 1 {
			e.Addr = e.Addr.Unmap()
		}
	}
	e.Received = s.progress.received.Load() - s.progress.before.Load()
	e.Length = s.progress.length.Load()
	length := min(int(uint16(facts)), URLMax)
	e.URL = make([]byte, 0, URLMax)
	for i := 0; i < length; i += 8 {
		e.URL = binary.LittleEndian.AppendUint64(e.URL, s.url[i/8].Load())
	}
	e.URL = e.URL[:length]
	return e
}
