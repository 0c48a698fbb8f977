package members

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// card is what a process says about itself in the data that memberlist carries for it.
type card struct {
	agent Agent // without Gossip, which memberlist carries itself
	term  uint64
	stage stage
}

// stage is how far a process has come.
type stage uint8

const (
	candidate stage = iota // it has not made sure yet that nobody else has its ID
	member
	leaving
)

// cardVersion begins each card. Another version is refused: what it means is not known.
const cardVersion = 1

var (
	errCard        = errors.New("members: garbled data of a member")
	errCardVersion = errors.New("members: data of a member in a version that this build does not know: run the same version on all agents")
)

// append writes the card: version, stage, then unsigned varints (term, incarnation, capacity, version of the letters), then the address for
// letters, the ID and the crawl, each with its length in a byte before it. At most 220 bytes.
func (c *card) append(to []byte) []byte {
	to = append(to, cardVersion, byte(c.stage))
	for _, n := range []uint64{c.term, c.agent.Incarnation, uint64(c.agent.Capacity), uint64(c.agent.Version)} {
		to = binary.AppendUvarint(to, n)
	}
	to = appendAddr(to, c.agent.Post)
	to = appendString(to, c.agent.ID)
	return appendString(to, c.agent.Crawl)
}

// parseCard reads what append wrote, and nothing else.
func parseCard(data []byte) (c card, err error) {
	if len(data) < 2 {
		return card{}, errCard
	}
	if data[0] != cardVersion {
		return card{}, fmt.Errorf("%w (%d)", errCardVersion, data[0])
	}
	r := reader{rest: data[2:]}
	c.stage = stage(data[1])
	c.term = r.number()
	c.agent.Incarnation = r.number()
	capacity, version := r.number(), r.number()
	c.agent.Post = r.addr()
	c.agent.ID, c.agent.Crawl = r.string(), r.string()
	if r.bad || len(r.rest) != 0 || c.stage > leaving || capacity > CapacityMax || version > 1<<16-1 {
		return card{}, errCard
	}
	c.agent.Capacity, c.agent.Version = int(capacity), int(version)
	if faults := c.agent.faults(); faults != nil {
		return card{}, fmt.Errorf("%w: %w", errCard, errors.Join(faults...))
	}
	return c, nil
}

func appendString(to []byte, s string) []byte { return append(append(to, byte(len(s))), s...) }

// appendAddr writes length, address and port.
func appendAddr(to []byte, a netip.AddrPort) []byte {
	ip := a.Addr().Unmap().AsSlice()
	to = append(append(to, byte(len(ip))), ip...)
	return binary.BigEndian.AppendUint16(to, a.Port())
}

// reader takes a message apart. After the first fault it gives zeros.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) bytes(n int) []byte {
	if r.bad || len(r.rest) < n {
		r.bad = true
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// number reads a varint of the shortest form.
func (r *reader) number() uint64 {
	v, n := binary.Uvarint(r.rest)
	if r.bad || n <= 0 || n > 1 && r.rest[n-1] == 0 {
		r.bad = true
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) string() string { return string(r.bytes(int(r.byte()))) }

func (r *reader) addr() netip.AddrPort {
	n := int(r.byte())
	ip, port := r.bytes(n), r.bytes(2)
	if n == 0 && !r.bad && port[0] == 0 && port[1] == 0 {
		return netip.AddrPort{}
	}
	addr, ok := netip.AddrFromSlice(ip)
	if !ok || r.bad || addr.Is4In6() {
		r.bad = true
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(addr, binary.BigEndian.Uint16(port))
}
