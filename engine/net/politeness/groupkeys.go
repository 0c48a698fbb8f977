package politeness

import (
	"encoding/binary"
	"net/netip"

	"github.com/zeebo/xxh3"
)

// groupPrefix is that of the keys of groups: addresses to discard (RFC 6666), to which no connection is made.
func groupPrefix() [8]byte { return [8]byte{0x01} }

// GroupKey returns the address key of a group of hosts.
func GroupKey(name string) netip.Addr {
	var key [16]byte
	prefix := groupPrefix()
	copy(key[:], prefix[:])
	binary.BigEndian.PutUint64(key[8:], xxh3.HashString(name))
	return netip.AddrFrom16(key)
}

// IsGroupKey reports whether an address key is that of a group.
func IsGroupKey(key netip.Addr) bool {
	if !key.Is6() {
		return false
	}
	bytes := key.As16()
	return [8]byte(bytes[:8]) == groupPrefix()
}
