package membership

import (
	"encoding/binary"
	"errors"
	"net/netip"
)

// message is a datagram from one process to another, beside memberlist's own messages. It is sent without
// acknowledgement.
type message struct {
	kind        messageKind
	nonce       uint64         // livenessRequest, livenessResponse: random, so that old responses do not count
	process     string         // name of the process that the message is about
	replyTo     netip.AddrPort // livenessRequest: where the requester listens
	incarnation uint64         // incarnationEnded: the last ended incarnation of the agent
}

// messageKind is the first byte of a message.
type messageKind uint8

const (
	livenessRequest  messageKind = iota + 1 // asks the process to answer if it is alive
	livenessResponse                        // the process is alive
	incarnationEnded                        // the receiver was declared dead: it must take the next incarnation
	suspicion                               // probes of the receiver by the sender fail
)

// outgoingMessage waits until the maintainer sends it, since callbacks of memberlist must not send.
type outgoingMessage struct {
	to      netip.AddrPort
	process string
	message message
}

var errMessage = errors.New("membership: malformed message")

func (m *message) append(dst []byte) []byte {
	dst = append(dst, byte(m.kind))
	dst = binary.BigEndian.AppendUint64(dst, m.nonce)
	dst = appendString(dst, m.process)
	dst = appendAddr(dst, m.replyTo)
	return binary.AppendUvarint(dst, m.incarnation)
}

// parseMessage accepts exactly what append writes.
func parseMessage(data []byte) (m message, err error) {
	r := reader{rest: data}
	m.kind = messageKind(r.byte())
	if b := r.bytes(8); b != nil {
		m.nonce = binary.BigEndian.Uint64(b)
	}
	m.process, m.replyTo, m.incarnation = r.string(), r.addr(), r.number()
	if r.bad || len(r.rest) != 0 || m.kind < livenessRequest || m.kind > suspicion {
		return message{}, errMessage
	}
	return m, nil
}

// endedVersion is the first byte of a list of ended incarnations. ID and incarnation of each agent follow. The list is
// part of each full exchange of state.
const endedVersion = 1

func appendEnded(dst []byte, ended map[string]uint64) []byte {
	dst = append(dst, endedVersion)
	for id, incarnation := range ended {
		dst = appendString(dst, id)
		dst = binary.AppendUvarint(dst, incarnation)
	}
	return dst
}

// parseEnded calls add for each pair. It stops at the first fault.
func parseEnded(data []byte, add func(id string, incarnation uint64)) error {
	r := reader{rest: data}
	if r.byte() != endedVersion {
		return errMessage
	}
	for !r.bad && len(r.rest) > 0 {
		id, incarnation := r.string(), r.number()
		if r.bad || !isID(id) {
			return errMessage
		}
		add(id, incarnation)
	}
	return nil
}
