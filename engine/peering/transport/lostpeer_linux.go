package transport

import (
	"syscall"
	"time"
)

// tcpUserTimeout is TCP_USER_TIMEOUT of Linux.
const tcpUserTimeout = 0x12

// limitUnacknowledged makes the kernel close a connection if the other machine has not acknowledged data for a time,
// however slow it is to send them. Without it, the kernel repeats the data for a quarter of an hour.
func limitUnacknowledged(raw syscall.RawConn, limit time.Duration) error {
	var fault error
	err := raw.Control(func(fd uintptr) {
		fault = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(limit.Milliseconds()))
	})
	if err == nil {
		err = fault
	}
	return err
}
