package politeness

import (
	"encoding/binary"
	"net/netip"

	"github.com/zeebo/xxh3"
)

// AddrKeys maps addresses to address keys. The IP delay, quotas and address leases hold for each key, since the owner
// of an IPv6 network has 2^64 addresses: the key of an IPv4 address is the address, the key of an IPv6 address is its
// network. The value is the length of the network prefix in bits; 128 makes each address a key. The workbench, the
// quotas and the leases use keys; connections go to the address (see site.Addrs.Current).
type AddrKeys int

const (
	// DefaultIPv6Prefix is the usual network of one machine or customer.
	DefaultIPv6Prefix = 64
	// MinIPv6Prefix is the usual network of a provider.
	MinIPv6Prefix = 32
	// MaxIPv6Prefix makes each address a key.
	MaxIPv6Prefix = 128
)

// KeyOf returns the key of an address. An IPv6 address that a translator made of an IPv4 address (RFC 6052, RFC 8215)
// stands for one machine, so it is its own key.
func (bits AddrKeys) KeyOf(addr netip.Addr) netip.Addr {
	addr = addr.Unmap().WithZone("")
	if addr.Is4() || isTranslated(addr) {
		return addr
	}
	network, err := addr.Prefix(int(bits))
	if err != nil {
		panic("BUG: politeness: " + err.Error()) // the configuration limits the bits, and addresses are valid
	}
	return network.Addr()
}

// isTranslated reports whether an IPv6 address is in 64:ff9b::/96 or 64:ff9b:1::/48, which stand for IPv4 addresses.
func isTranslated(addr netip.Addr) bool {
	a := addr.As16()
	return [4]byte(a[:4]) == [4]byte{0x00, 0x64, 0xff, 0x9b} && ([8]byte(a[4:12]) == [8]byte{} || a[4] == 0 && a[5] == 1)
}

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
