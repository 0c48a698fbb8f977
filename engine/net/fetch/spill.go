package fetch

import (
	"crypto/tls"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

// spill is the file for TLS sessions that memory has no room for. It is made when it is first needed, and removed at
// the end: what it says of certificates holds for the authorities of this run.
//
// It grows as sessions come. Only one is written at a time, and no handshake waits for that: on a disk that is stuck,
// other sessions are lost. When all slots are taken, a session replaces another, in the order of slots. As in memory, a
// session that is lost costs a whole handshake.
//
//	slot: server u128 | until i64 | memory i64 | chain 32 bytes | length of ticket u16, of state u16 | ticket | state
//	      | xxh3 of all this u64
type spill struct {
	fsys  vfs.FS
	name  string
	slots int // at most

	writing sync.Mutex // held by the writer, which alone changes the file
	buf     []byte     // of the writer

	mu struct {
		sync.Mutex
		file    vfs.File             // nil until it is needed
		slots   map[xxh3.Uint128]int // of each server that has a session here
		servers []xxh3.Uint128       // that had each slot last
		free    []int                // slots of sessions that were dropped
		next    int                  // the slot that is replaced next, when none is free
	}
}

// The file takes 512 MiB at most. A slot has room for a ticket of usual size and the certificates of a chain of three.
const (
	spillSlots = 1 << 16
	spillSlot  = 8 << 10
	spillHead  = 16 + 8 + 8 + 32 + 2 + 2
)

// write stores a session. lost is how many sessions are lost by that: this one, or one that it replaces.
func (s *spill) write(server xxh3.Uint128, one *session) (lost int64) {
	ticket, state, err := one.state.ResumptionState()
	if err != nil || state == nil {
		return 1
	}
	bytes, err := state.Bytes()
	if err != nil || spillHead+len(ticket)+len(bytes)+8 > spillSlot || !s.writing.TryLock() {
		return 1
	}
	defer s.writing.Unlock()
	file, err := s.open()
	if err != nil {
		return 1
	}
	b := binary.LittleEndian.AppendUint64(s.buf[:0], server.Hi)
	b = binary.LittleEndian.AppendUint64(b, server.Lo)
	b = binary.LittleEndian.AppendUint64(b, uint64(one.trusted.until.UnixNano()))
	b = binary.LittleEndian.AppendUint64(b, uint64(one.trusted.bytes))
	b = append(b, one.trusted.chain[:]...)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(ticket)))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(bytes)))
	b = append(append(b, ticket...), bytes...)
	b = binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
	s.buf = b
	slot, isReplaced := s.reserve(server)
	if isReplaced {
		lost++
	}
	if _, err := file.WriteAt(b, int64(slot)*spillSlot); err != nil {
		s.release(slot)
		return lost + 1
	}
	s.publish(server, slot)
	return lost
}

// open returns the file. Only the writer calls it.
func (s *spill) open() (vfs.File, error) {
	s.mu.Lock()
	file := s.mu.file
	s.mu.Unlock()
	if file != nil {
		return file, nil
	}
	file, err := s.fsys.Create(s.name)
	if err != nil {
		return nil, err //nolint:wrapcheck // it is counted
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.file, s.mu.slots = file, make(map[xxh3.Uint128]int)
	return file, nil
}

// reserve gives the writer a slot that no server has: its own, a free one, a new one, or that of another server, whose
// session is then lost.
func (s *spill) reserve(server xxh3.Uint128) (slot int, isReplaced bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot, ok := s.mu.slots[server]; ok {
		delete(s.mu.slots, server)
		return slot, false
	}
	if last := len(s.mu.free) - 1; last >= 0 {
		slot, s.mu.free = s.mu.free[last], s.mu.free[:last]
		return slot, false
	}
	if slot = len(s.mu.servers); slot < s.slots {
		return slot, false
	}
	slot = s.mu.next
	s.mu.next = (slot + 1) % s.slots
	delete(s.mu.slots, s.mu.servers[slot])
	return slot, true
}

// release gives back a slot that was reserved.
func (s *spill) release(slot int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot < len(s.mu.servers) {
		s.mu.free = append(s.mu.free, slot)
	}
}

// publish gives a server the slot in which its session was written.
func (s *spill) publish(server xxh3.Uint128, slot int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot == len(s.mu.servers) {
		s.mu.servers = append(s.mu.servers, server)
	}
	s.mu.servers[slot] = server
	s.mu.slots[server] = slot
}

// read returns the session of a server, which stays. Beside a writer that replaces it, it is whole or none.
func (s *spill) read(server xxh3.Uint128) (one session, ok bool) {
	s.mu.Lock()
	slot, ok := s.mu.slots[server]
	file := s.mu.file
	s.mu.Unlock()
	if !ok {
		return session{}, false
	}
	b := make([]byte, spillSlot)
	n, _ := file.ReadAt(b, int64(slot)*spillSlot) // the last slot may end early; the checksum finds what is missing
	if b = b[:n]; n < spillHead+8 {
		return session{}, false
	}
	ticket := int(binary.LittleEndian.Uint16(b[spillHead-4:]))
	end := spillHead + ticket + int(binary.LittleEndian.Uint16(b[spillHead-2:]))
	isTheirs := binary.LittleEndian.Uint64(b) == server.Hi && binary.LittleEndian.Uint64(b[8:]) == server.Lo
	if !isTheirs || end+8 > len(b) || binary.LittleEndian.Uint64(b[end:]) != xxh3.Hash(b[:end]) {
		return session{}, false
	}
	state, err := tls.ParseSessionState(b[spillHead+ticket : end])
	if err != nil {
		return session{}, false
	}
	if one.state, err = tls.NewResumptionState(b[spillHead:spillHead+ticket], state); err != nil {
		return session{}, false
	}
	one.trusted.until = time.Unix(0, int64(binary.LittleEndian.Uint64(b[16:])))
	one.trusted.bytes = int64(binary.LittleEndian.Uint64(b[24:]))
	copy(one.trusted.chain[:], b[32:])
	return one, true
}

// drop forgets the session of a server.
func (s *spill) drop(server xxh3.Uint128) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if slot, ok := s.mu.slots[server]; ok {
		delete(s.mu.slots, server)
		s.mu.free = append(s.mu.free, slot)
	}
}

// close removes the file. Nothing else may be called after it.
func (s *spill) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.file == nil {
		return nil
	}
	err := s.mu.file.Close()
	s.mu.file = nil
	return errors.Join(err, vfs.RemoveIfExists(s.fsys, s.name))
}
