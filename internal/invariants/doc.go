// Package invariants holds checks that cost too much for a production build and are free when they are off.
//
// They are on with the build tag "invariants" (go test -tags invariants ./...). A check that is cheap belongs into the
// code itself, without this package. A failed check is a bug, so it panics; nothing here looks at untrusted input.
//
//	Check         a condition that must hold
//	Mangle        fills bytes that must not be read any more, so that a reader sees 0xCC
//	CloseChecker  embedded in what is closed once and not used afterwards
//	NoCopy        makes go vet complain about copies
//	Race          whether the race detector is on
package invariants

// NoCopy marks a struct that must not be copied after its first use: go vet reports copies of it. It takes no space
// unless it is the last field.
type NoCopy struct{}

// Lock makes go vet's copylocks check apply. It does nothing.
func (*NoCopy) Lock() {}

// Unlock makes go vet's copylocks check apply. It does nothing.
func (*NoCopy) Unlock() {}
