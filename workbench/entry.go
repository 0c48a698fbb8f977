package workbench

import "net/netip"

// entry is one IP: its sites, with the waiting ones in a heap by due time. It contains no pointers.
type entry struct {
	addr    [16]byte // IPv4 as IPv4-mapped IPv6: see canonical
	due     int64
	sites   uint32 // the heap of the Waiting sites, or 0 if there are none
	lease   uint32 // the Visit that is out, or 0
	members int32  // number of all sites at this IP
	state   entryState
	note    [3]byte // the engine's note: see Visit.IPNote
}

// entryState is the use of an entry.
type entryState uint8

const (
	unused   entryState = iota // its number is free
	occupied                   // has members or a Visit
	vacant                     // no members; kept until the due time has passed
)

func (e *entry) noteValue() uint32 {
	return uint32(e.note[0]) | uint32(e.note[1])<<8 | uint32(e.note[2])<<16
}

func (e *entry) setNote(n uint32) { e.note = [3]byte{byte(n), byte(n >> 8), byte(n >> 16)} }

func (e *entry) address() netip.Addr { return netip.AddrFrom16(e.addr).Unmap() }

// canonical returns the form in which addresses are compared: IPv4 without mapping, and no zone.
func canonical(addr netip.Addr) netip.Addr {
	if !addr.IsValid() {
		panic("BUG: workbench: invalid address of a site")
	}
	return addr.Unmap().WithZone("")
}
