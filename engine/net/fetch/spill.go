package fetch

import (
	"crypto/tls"
	"encoding/binary"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/vfs"
)

// spill is the file for TLS sessions that memory has no room for. It is made when it is first needed, and removed at
// the end: what it says of certificates holds for the authorities of this run.
//
// A server has one of the slots, by its hash. A session replaces what was there: as in memory, a session that is lost
// costs a whole handshake. The checksum finds what two writers have torn.
//
//	slot: server u128 | until i64 | memory i64 | chain 32 bytes | length of ticket u16, of state u16 | ticket | state
//	      | xxh3 of all this u64
type spill struct {
	fsys vfs.FS
	name string

	mu struct {
		sync.Mutex
		file vfs.File // nil until it is needed
		used [spillSlots / 8]byte
		buf  []byte
	}
}

// The file takes 512 MiB at most. A slot has room for a ticket of usual size and the certificates of a chain of three.
const (
	spillSlots = 1 << 16
	spillSlot  = 8 << 10
	spillHead  = 16 + 8 + 8 + 32 + 2 + 2
)

// write stores a session. It reports whether there was room.
func (s *spill) write(server xxh3.Uint128, one *session) bool {
	ticket, state, err := one.state.ResumptionState()
	if err != nil || state == nil {
		return false
	}
	bytes, err := state.Bytes()
	if err != nil || spillHead+len(ticket)+len(bytes)+8 > spillSlot {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.file == nil {
		file, err := s.fsys.Create(s.name)
		if err != nil {
			return false
		}
		s.mu.file = file
	}
	b := binary.LittleEndian.AppendUint64(s.mu.buf[:0], server.Hi)
	b = binary.LittleEndian.AppendUint64(b, server.Lo)
	b = binary.LittleEndian.AppendUint64(b, uint64(one.trusted.until.UnixNano()))
	b = binary.LittleEndian.AppendUint64(b, uint64(one.trusted.bytes))
	b = append(b, one.trusted.chain[:]...)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(ticket)))
	b = binary.LittleEndian.AppendUint16(b, uint16(len(bytes)))
	b = append(append(b, ticket...), bytes...)
	b = binary.LittleEndian.AppendUint64(b, xxh3.Hash(b))
	s.mu.buf = b
	slot := server.Lo % spillSlots
	if _, err := s.mu.file.WriteAt(b, int64(slot)*spillSlot); err != nil {
		return false
	}
	s.mu.used[slot/8] |= 1 << (slot % 8)
	return true
}

// read returns the session of a server, which stays.
func (s *spill) read(server xxh3.Uint128) (one session, ok bool) {
	b := s.slot(server)
	if len(b) < spillHead+8 {
		return session{}, false
	}
	ticket := int(binary.LittleEndian.Uint16(b[spillHead-4:]))
	end := spillHead + ticket + int(binary.LittleEndian.Uint16(b[spillHead-2:]))
	if !isOf(b, server) || end+8 > len(b) || binary.LittleEndian.Uint64(b[end:]) != xxh3.Hash(b[:end]) {
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

// isOf reports whether a slot begins with the hash of a server.
func isOf(slot []byte, server xxh3.Uint128) bool {
	return len(slot) >= 16 && binary.LittleEndian.Uint64(slot) == server.Hi &&
		binary.LittleEndian.Uint64(slot[8:]) == server.Lo
}

// slot reads the slot of a server; nil if nothing was written there.
func (s *spill) slot(server xxh3.Uint128) []byte {
	slot := server.Lo % spillSlots
	s.mu.Lock()
	file, isUsed := s.mu.file, s.mu.used[slot/8]&(1<<(slot%8)) != 0
	s.mu.Unlock()
	if !isUsed {
		return nil
	}
	b := make([]byte, spillSlot)
	n, _ := file.ReadAt(b, int64(slot)*spillSlot) // the last slot may end early; the checksum finds what is missing
	return b[:n]
}

// drop forgets the session of a server. That of another server in its slot stays.
func (s *spill) drop(server xxh3.Uint128) {
	if !isOf(s.slot(server), server) {
		return
	}
	slot := server.Lo % spillSlots
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.used[slot/8] &^= 1 << (slot % 8)
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
	if err == nil {
		err = s.fsys.Remove(s.name)
	}
	return err //nolint:wrapcheck // it names the file
}
