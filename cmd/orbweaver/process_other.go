//go:build !unix

package main

import (
	"log/slog"
	"time"
)

// usage is not known on this system.
func usage() (cpu time.Duration, rssPeak int64) { return 0, 0 }

// raiseFileLimit has nothing to raise on this system.
func raiseFileLimit(*slog.Logger, int) {}
