package socks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"syscall"
)

// Errors of the proxy itself say nothing about the server.
var (
	// ErrProxy is wrapped by all of them.
	ErrProxy = errors.New("socks: the proxy fails")
	// ErrLocked is wrapped if the proxy refuses the name and the password, or asks for them.
	ErrLocked = fmt.Errorf("%w: it refuses the name and password, or wants some", ErrProxy)
	// ErrRefused is wrapped if the proxy refuses the connection to this server; it may make others.
	ErrRefused = fmt.Errorf("%w: it refuses the connection", ErrProxy)
)

// TextMax is the longest name and password, in bytes.
const TextMax = 255

// Proxy is a SOCKS5 proxy. Without a Name it wants no password.
type Proxy struct{ Name, Password string }

// The bytes of the protocol.
const (
	version         = 5
	connect         = 1
	noPassword      = 0
	byPassword      = 2
	passwordVersion = 1
	typeIPv4        = 1
	typeName        = 3
	typeIPv6        = 4
)

// Request asks a proxy, to which conn is connected, for a connection to addr. An error that does not wrap ErrProxy says
// what became of the connection to addr, as an error of the system.
func (p *Proxy) Request(conn io.ReadWriter, addr netip.AddrPort) error {
	method := byte(noPassword)
	if p.Name != "" {
		method = byPassword
	}
	if err := ask(conn, []byte{version, 1, method}, method); err != nil {
		return err
	}
	if method == byPassword {
		b := append([]byte{passwordVersion, byte(len(p.Name))}, p.Name...)
		b = append(append(b, byte(len(p.Password))), p.Password...)
		if err := ask(conn, b, 0); err != nil {
			return err
		}
	}
	b := []byte{version, connect, 0, typeIPv4}
	ip := addr.Addr().Unmap()
	if ip.Is6() {
		b[3] = typeIPv6
	}
	b = binary.BigEndian.AppendUint16(append(b, ip.AsSlice()...), addr.Port())
	if _, err := conn.Write(b); err != nil {
		return fmt.Errorf("%w: %w", ErrProxy, err)
	}
	return readReply(conn)
}

// ask sends a message whose reply has two bytes, and wants the second.
func ask(conn io.ReadWriter, message []byte, want byte) error {
	var reply [2]byte
	_, err := conn.Write(message)
	if err == nil {
		_, err = io.ReadFull(conn, reply[:])
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrProxy, err)
	}
	if reply[0] > version {
		return fmt.Errorf("%w: it does not speak SOCKS5", ErrProxy)
	}
	if reply[1] != want {
		return ErrLocked
	}
	return nil
}

// readReply reads the reply to a request, and the address in it, which is of no use. A proxy that sends none in time
// waits for the server; one that ends the connection refuses it.
func readReply(conn io.Reader) error {
	var head [5]byte
	if _, err := io.ReadFull(conn, head[:]); errors.Is(err, os.ErrDeadlineExceeded) {
		return err
	} else if err != nil {
		return fmt.Errorf("%w: %w", ErrRefused, err)
	}
	rest := map[byte]int{typeIPv4: 3 + 2, typeIPv6: 15 + 2, typeName: int(head[4]) + 2}[head[3]]
	if head[0] != version || rest == 0 {
		return fmt.Errorf("%w: it does not speak SOCKS5", ErrProxy)
	}
	if _, err := io.CopyN(io.Discard, conn, int64(rest)); err != nil {
		return fmt.Errorf("%w: %w", ErrProxy, err)
	}
	switch head[1] {
	case 0:
		return nil
	case 1, 3, 4, 8: // general failure, network or host unreachable, no such kind of address
		return syscall.EHOSTUNREACH
	case 2: // not allowed by the rules
		return ErrRefused
	case 5:
		return syscall.ECONNREFUSED
	case 6: // TTL expired
		return syscall.ETIMEDOUT
	default:
		return fmt.Errorf("%w: its reply has the code %d", ErrProxy, head[1])
	}
}
