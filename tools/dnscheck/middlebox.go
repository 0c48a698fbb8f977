package main

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"time"
)

// middlebox passes DNS messages on, and drops or refuses questions that it does not like.
type middlebox struct {
	server  string // host and port
	refuses func(question []byte) verdict
}

// verdict is what a middlebox does with a question.
type verdict uint8

const (
	pass verdict = iota
	drop
	formErr // answer with FORMERR, as servers do that do not know EDNS0
)

// headerSize is the size of the header of a DNS message.
const headerSize = 12

// hasEDNS reports whether a question has an additional record.
func hasEDNS(q []byte) bool { return binary.BigEndian.Uint16(q[10:]) > 0 }

// isMixed reports whether the name of a question has an upper-case letter.
func isMixed(q []byte) bool {
	name := q[headerSize:nameEnd(q)]
	for _, c := range name {
		if c >= 'A' && c <= 'Z' {
			return true
		}
	}
	return false
}

// isAAAA reports whether a question is for IPv6 addresses.
func isAAAA(q []byte) bool {
	const typeAAAA = 28
	end := nameEnd(q)
	return len(q) >= end+2 && binary.BigEndian.Uint16(q[end:]) == typeAAAA
}

// hasAny reports whether a question has any of these.
func hasAny(q []byte) bool { return hasEDNS(q) || isMixed(q) || isAAAA(q) }

// nameEnd returns where the name of a question ends.
func nameEnd(q []byte) int {
	at := headerSize
	for at < len(q) && q[at] != 0 {
		at += 1 + int(q[at])
	}
	return min(at+1, len(q))
}

// refusal makes an answer FORMERR, which has the header alone.
func refusal(q []byte) []byte {
	answer := append([]byte(nil), q[:headerSize]...)
	answer[2] |= 0x80
	answer[3] = answer[3]&0xF0 | 1
	clear(answer[4:])
	return answer
}

// serve listens at addr for UDP and TCP until the process ends.
func (m *middlebox) serve(addr string) error {
	packets, err := net.ListenPacket("udp", addr)
	if err != nil {
		return err
	}
	streams, err := net.Listen("tcp", addr)
	if err != nil {
		return errors.Join(err, packets.Close())
	}
	go m.servePackets(packets)
	go m.serveStreams(streams)
	return nil
}

// servePackets passes each question on in a socket of its own.
func (m *middlebox) servePackets(packets net.PacketConn) {
	buf := make([]byte, 64<<10)
	for {
		n, from, err := packets.ReadFrom(buf)
		if err != nil {
			return
		}
		if n < headerSize {
			continue
		}
		q := append([]byte(nil), buf[:n]...)
		switch m.refuses(q) {
		case drop:
		case formErr:
			_, _ = packets.WriteTo(refusal(q), from)
		case pass:
			go func() {
				if answer := m.ask(q); answer != nil {
					_, _ = packets.WriteTo(answer, from)
				}
			}()
		}
	}
}

// ask asks the server by UDP; nil if it does not answer.
func (m *middlebox) ask(q []byte) []byte {
	conn, err := net.Dial("udp", m.server)
	if err != nil {
		return nil
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	answer := make([]byte, 64<<10)
	if _, err = conn.Write(q); err != nil {
		return nil
	}
	n, err := conn.Read(answer)
	if err != nil {
		return nil
	}
	return answer[:n]
}

// serveStreams passes TCP connections on as they are: what middleboxes do not like is UDP.
func (m *middlebox) serveStreams(streams net.Listener) {
	for {
		client, err := streams.Accept()
		if err != nil {
			return
		}
		go func() {
			defer func() { _ = client.Close() }()
			server, err := net.Dial("tcp", m.server)
			if err != nil {
				return
			}
			defer func() { _ = server.Close() }()
			deadline := time.Now().Add(patience)
			_, _ = client.SetDeadline(deadline), server.SetDeadline(deadline)
			go func() { _, _ = io.Copy(server, client) }()
			_, _ = io.Copy(client, server)
		}()
	}
}

// patience is how long a middlebox waits for a server.
const patience = 5 * time.Second
