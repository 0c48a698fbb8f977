package outage

import "sync/atomic"

// NameServers watches all name servers together. It logs when none of them answers any more, and when one answers
// again.
type NameServers struct {
	detector outageDetector
	warn     func(msg string, args ...any)
	Down     atomic.Bool
}

// NewNameServers returns the NameServers of a resolver, which may have a method Outage() bool. warn logs warnings with
// key-value fields.
func NewNameServers(r any, warn func(msg string, args ...any)) *NameServers {
	detector, ok := r.(outageDetector)
	if !ok {
		detector = noDetector{}
	}
	return &NameServers{detector: detector, warn: warn}
}

// Check asks the resolver and reports whether no name server answers. It updates Down and logs a change.
func (n *NameServers) Check() bool {
	down := n.detector.Outage()
	switch {
	case !n.Down.CompareAndSwap(!down, down): // no change
	case down:
		n.warn("no name server answers: hosts without an address wait and are tried again every 10 s; " +
			"check the network and --resolver")
	default:
		n.warn("the name servers answer again")
	}
	return down
}

// noDetector is for a resolver that cannot detect an outage.
type noDetector struct{}

// Outage returns false.
func (noDetector) Outage() bool { return false }

// outageDetector is implemented by a resolver that knows whether the name servers themselves fail.
type outageDetector interface {
	Outage() bool
}
