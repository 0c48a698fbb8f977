//go:build !linux

package transport

import (
	"syscall"
	"time"
)

// limitUnacknowledged has no effect here: the keep-alive of gRPC closes the connection later.
func limitUnacknowledged(syscall.RawConn, time.Duration) error { return nil }
