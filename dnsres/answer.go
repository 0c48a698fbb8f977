package dnsres

import (
	"errors"
	"net/netip"
	"time"
)

// Answer is the addresses of a name, or the reason why there are none. Addrs is shared between callers and must not be
// changed.
type Answer struct {
	Addrs   []netip.Addr // never empty when Err is nil; IPv4 first, in the order the server gave
	Expires time.Time    // time from which the name is resolved again; zero for answers that do not expire
	// Err is nil, or wraps exactly one of ErrNotFound, ErrName, ErrServer, ErrTimeout, ErrLocal, or the context's error.
	Err error
}

// The kinds of failure. ErrNotFound and ErrName are about the name and definite. ErrServer and ErrTimeout are about the
// name servers and temporary. ErrLocal means that no question could be sent, because file descriptors, ports or memory
// are missing.
var (
	ErrNotFound = errors.New("dnsres: no such name, or no address")
	ErrName     = errors.New("dnsres: not a valid host name")
	ErrServer   = errors.New("dnsres: name server fault")
	ErrTimeout  = errors.New("dnsres: name servers did not answer in time")
	ErrLocal    = errors.New("dnsres: this machine could not ask")
	ErrOptions  = errors.New("dnsres: bad options")
)

// Definite reports whether the failure is about the name, so that asking again soon is useless.
func (a Answer) Definite() bool {
	return errors.Is(a.Err, ErrNotFound) || errors.Is(a.Err, ErrName)
}
