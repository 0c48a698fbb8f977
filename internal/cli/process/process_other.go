//go:build !unix

package process

import "time"

// Usage is not known on this system.
func Usage() (cpu time.Duration, rssPeak int64) { return 0, 0 }

// FileLimit: this system has none that is known.
func FileLimit(int) int { return unlimited }

// MayBeAlive is not known on this system.
func MayBeAlive(int) bool { return true }

// FileOwner is not known on this system.
func FileOwner(string) string { return "" }

// User is not known on this system.
func User() string { return "" }
