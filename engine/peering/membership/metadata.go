package membership

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
)

// metadata is what a process tells about itself. Memberlist carries it with the process's name and gossip address.
type metadata struct {
	agent       Agent // without GossipAddr, which memberlist carries itself
	incarnation uint64
	stage       stage
}

// stage is the progress of a process. The numbers are part of the format.
type stage uint8

const (
	joining stage = iota // it does not know yet that no other living process has its ID
	member
	leaving
)

// metadataVersion is the first byte of metadata. Metadata of another version are refused.
const metadataVersion = 1

var (
	errMetadata        = errors.New("membership: malformed metadata of a member")
	errMetadataVersion = errors.New("membership: unknown version of a member's metadata: run one version on all agents")
)

// append writes version and stage, one byte each. Incarnation, store, capacity and message version follow as unsigned
// varints. Then message address, ID and crawl follow, each behind its length in one byte. At most 352 bytes.
func (m *metadata) append(dst []byte) []byte {
	dst = append(dst, metadataVersion, byte(m.stage))
	for _, n := range []uint64{m.incarnation, m.agent.Store, uint64(m.agent.Capacity), uint64(m.agent.MessageVersion)} {
		dst = binary.AppendUvarint(dst, n)
	}
	dst = appendAddr(dst, m.agent.MessageAddr)
	dst = appendString(dst, m.agent.ID)
	return appendString(dst, m.agent.Crawl)
}

// parseMetadata accepts exactly what append writes.
func parseMetadata(data []byte) (m metadata, err error) {
	if len(data) < 2 {
		return metadata{}, errMetadata
	}
	if data[0] != metadataVersion {
		return metadata{}, fmt.Errorf("%w (%d)", errMetadataVersion, data[0])
	}
	r := reader{rest: data[2:]}
	m.stage = stage(data[1])
	m.incarnation = r.number()
	m.agent.Store = r.number()
	capacity, version := r.number(), r.number()
	m.agent.MessageAddr = r.addr()
	m.agent.ID, m.agent.Crawl = r.string(), r.string()
	if r.bad || len(r.rest) != 0 || m.stage > leaving || capacity > MaxCapacity || version > 1<<16-1 {
		return metadata{}, errMetadata
	}
	m.agent.Capacity, m.agent.MessageVersion = int(capacity), int(version)
	if faults := m.agent.faults(); faults != nil {
		return metadata{}, fmt.Errorf("%w: %w", errMetadata, errors.Join(faults...))
	}
	return m, nil
}

// appendString writes the length in one byte, then the string, which must be shorter than 256 bytes.
func appendString(dst []byte, s string) []byte { return append(append(dst, byte(len(s))), s...) }

// appendAddr writes the length of the address in one byte, the address, and the port in two bytes.
func appendAddr(dst []byte, a netip.AddrPort) []byte {
	ip := a.Addr().Unmap().AsSlice()
	dst = append(append(dst, byte(len(ip))), ip...)
	return binary.BigEndian.AppendUint16(dst, a.Port())
}

// reader decodes a message. After the first fault it sets bad and returns zero values.
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

// number reads a varint, which must have the shortest form.
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
