package membership

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"orbweaver/engine/peering"
)

// Memberlist reads up to 20 MiB from a stream before it knows whether the sender has the gossip key, and accepts any
// number of streams. These limits bound incoming streams in number, in number from one source, and in bytes. The state
// of 1,000 agents is less than half a mebibyte.
const (
	maxStreams         = 128
	maxStreamsOfSource = 32
	maxStreamBytes     = 1 << 20
)

var errStreamTooLong = errors.New("membership: stream too long")

// limitedStream is an incoming stream that is counted until it is closed.
type limitedStream struct {
	net.Conn
	remaining int // bytes that may still be read; used by the reader only
	once      sync.Once
	release   func()
}

// Read returns errStreamTooLong behind the last byte that may be read.
func (s *limitedStream) Read(p []byte) (n int, err error) {
	if s.remaining <= 0 {
		return 0, errStreamTooLong
	}
	n, err = s.Conn.Read(p[:min(len(p), s.remaining)])
	s.remaining -= n
	return n, err
}

// Close may be called more than once.
func (s *limitedStream) Close() error {
	s.once.Do(s.release)
	return s.Conn.Close()
}

// admit returns a stream that limits count. At a limit it closes conn and returns false.
func admit(limits *peering.SourceLimit, conn net.Conn) (net.Conn, bool) {
	leave, ok := limits.Enter(conn.RemoteAddr().String())
	if !ok {
		_ = conn.Close()
		return nil, false
	}
	return &limitedStream{Conn: conn, remaining: maxStreamBytes, release: leave}, true
}

// encryptedStreamMessage is the first byte of an encrypted message on a stream, as memberlist's protocol fixes it. Four
// bytes with the length follow, then the encrypted message.
const (
	encryptedStreamMessage = 10
	streamHeaderSize       = 5

	firstReadSize = 4096
)

// guardedStream checks the encryption of the first message that it reads. A message is read whole before memberlist
// gets any of it. Only one goroutine reads from a stream.
//
// If no key opens the message, Read of an outgoing stream fails with ErrOtherKey. On an incoming stream memberlist gets
// the message all the same: it makes the same check, and answers with an error that the other agent needs.
type guardedStream struct {
	net.Conn
	keys       *keyring
	onOtherKey func(from string)
	onNoAnswer func() // nil for an incoming stream

	checked bool
	pending []byte    // read but not yet returned
	err     error     // returned behind pending
	once    sync.Once // for onNoAnswer
}

// Read implements net.Conn.
func (s *guardedStream) Read(p []byte) (n int, err error) {
	if !s.checked {
		s.checked = true
		if s.err = s.readFirst(); errors.Is(s.err, ErrOtherKey) {
			s.onOtherKey(s.RemoteAddr().String())
			if outgoing := s.onNoAnswer != nil; outgoing {
				s.pending = nil
			}
		}
	}
	if len(s.pending) > 0 {
		n = copy(p, s.pending)
		s.pending = s.pending[n:]
		return n, nil
	}
	if s.err != nil {
		return 0, s.err
	}
	return s.Conn.Read(p)
}

// readFirst reads the first message into pending, and checks it. A message that is not encrypted is checked when its
// first bytes have arrived.
func (s *guardedStream) readFirst() error {
	first := make([]byte, firstReadSize)
	n, err := s.Conn.Read(first)
	if s.pending = first[:n]; n == 0 {
		return err
	}
	s.once.Do(func() {}) // this is an answer
	switch encrypted := s.pending[0] == encryptedStreamMessage; {
	case !s.keys.encrypts && encrypted:
		return fmt.Errorf("%w: the stream is encrypted, and this agent has no gossip key", ErrOtherKey)
	case !s.keys.encrypts:
		return nil
	case !encrypted:
		return fmt.Errorf("%w: the stream is not encrypted, and this agent has a gossip key", ErrOtherKey)
	}
	if err := s.fill(streamHeaderSize); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(s.pending[1:])
	if uint64(size) > maxStreamBytes {
		return errStreamTooLong
	}
	if err := s.fill(streamHeaderSize + int(size)); err != nil {
		return err
	}
	message := s.pending[:streamHeaderSize+int(size)]
	if ok, _ := s.keys.opens(message[streamHeaderSize:], message[:streamHeaderSize], nil); !ok {
		return fmt.Errorf("%w: no gossip key of this agent opens the stream", ErrOtherKey)
	}
	return nil
}

// fill reads until pending has at least n bytes. The buffer grows with the bytes that arrive, not with the announced
// size.
func (s *guardedStream) fill(n int) error {
	if n <= len(s.pending) {
		return nil
	}
	buffer := bytes.NewBuffer(s.pending)
	_, err := io.CopyN(buffer, s.Conn, int64(n-len(s.pending)))
	s.pending = buffer.Bytes()
	return err
}

// Close may be called more than once.
func (s *guardedStream) Close() error {
	if s.onNoAnswer != nil {
		s.once.Do(s.onNoAnswer)
	}
	return s.Conn.Close()
}
