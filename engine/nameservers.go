package engine

import "sync/atomic"

// nameServers watches the name servers as a whole: it says once that none of them answers, and once that one does again.
type nameServers struct {
	detector outageDetector // nil for a resolver that cannot tell
	say      func(msg string, args ...any)
	silent   atomic.Bool
}

func newNameServers(r Resolver, say func(msg string, args ...any)) *nameServers {
	detector, _ := r.(outageDetector)
	return &nameServers{detector: detector, say: say}
}

// outage looks whether none of them answers.
func (n *nameServers) outage() bool {
	if n.detector == nil {
		return false
	}
	silent := n.detector.Outage()
	switch {
	case !n.silent.CompareAndSwap(!silent, silent): // nothing new
	case silent:
		n.say("no name server answers: hosts without an address wait, and are asked for again every 10 s; " +
			"is the network up, and is --resolver right?")
	default:
		n.say("the name servers answer again")
	}
	return silent
}
