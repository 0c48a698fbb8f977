package membership

import (
	"encoding/binary"
	"net/netip"
)

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
