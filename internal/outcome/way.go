package outcome

// Way is what an answer, or the lack of one, shows about the way to a server: a proxy, or another gateway that answers
// in place of the server. Such an answer says nothing about the site.
type Way uint8

// The faults of the way.
const (
	WayOpen    Way = iota // none: what came is of the server
	WayDown               // the proxy cannot be reached, or does not do what a proxy does
	WayLocked             // the proxy asks for credentials, or refuses those that it got (407)
	WayPortal             // a gateway wants a login before it lets requests pass (511, or a captive portal)
	WayRefused            // the proxy refuses this request; it may let others pass
)

// IsWhole reports whether a fault concerns all sites.
func (w Way) IsWhole() bool { return w == WayDown || w == WayLocked || w == WayPortal }
