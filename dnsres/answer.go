package dnsres

import (
	"errors"
	"net/netip"
	"time"
)

// Answer is what a name resolves to, or why it does not. It is a value; Addrs is shared between callers and must not
// be changed.
type Answer struct {
	Addrs   []netip.Addr // never empty when Err is nil; IPv4 first, in the order the server gave
	Expires time.Time    // when the answer (or the fault) is asked for again; zero for answers that never expire
	Err     error        // nil, or wraps exactly one of ErrNotFound, ErrName, ErrServer, ErrTimeout, ErrLocal, or the context's error
}

// The kinds of failure. ErrNotFound and ErrName speak about the name and are definite; ErrServer and ErrTimeout speak
// about the name servers and pass. ErrLocal says that no question was sent, for want of file descriptors, ports or memory: it
// speaks about nobody else.
var (
	ErrNotFound = errors.New("dnsres: no such name, or no address")
	ErrName     = errors.New("dnsres: not a valid host name")
	ErrServer   = errors.New("dnsres: name server fault")
	ErrTimeout  = errors.New("dnsres: name servers did not answer in time")
	ErrLocal    = errors.New("dnsres: this machine could not ask")
	ErrOptions  = errors.New("dnsres: bad options")
)

// Definite says whether the failure is about the name itself, so that asking again soon is pointless.
func (a Answer) Definite() bool {
	return errors.Is(a.Err, ErrNotFound) || errors.Is(a.Err, ErrName)
}
