//go:build !unix

package main

import "time"

// usage is not known on this system.
func usage() (cpu time.Duration, rssPeak int64) { return 0, 0 }

// fileLimit: this system has none that is known.
func fileLimit(int) int { return unlimited }
