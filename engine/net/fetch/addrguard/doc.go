// Package addrguard decides which addresses and ports a crawler may contact, so that no site can make it send requests
// into a private network. docs/hostile.md has the attacks.
//
// A Guard never changes after New, Deny, Own, Control and Upstream, except by Listening. The dialer of engine/net/fetch
// asks it about exactly the address that it connects to; the resolver loop asks it before a site gets an address.
//
// The order of the checks of an address, which the first refusal ends:
//
//	Guard.Check -> zone or upstream only -> inner: an embedded IPv4 address is checked, too
//	            -> checkAddr: denied, placeholder, allowed by range, special-purpose (ranges.go), own (own.go)
//	            -> checkPort: control port of this process, named port, bad port (badports.go), usual port
//
// An error wraps ErrBlockedAddress or ErrBlockedPort. A Guard is safe for concurrent use.
package addrguard
