package judge

import "orbweaver/internal/simweb"

// Class is what a sound crawler does with a URL.
type Class uint8

// The classes.
const (
	ClassNone     Class = iota // not reached: it must not be fetched
	ClassPage                  // fetched, and stored with status 200 and its whole payload
	ClassCut                   // fetched and stored with status 200; larger than a body limit below Timing.HugeBytes
	ClassAttempt               // fetched at least once; no whole answer with status 200 ever comes
	ClassOptional              // may be fetched: steps of redirect loops, hops out of scope, strings of scripts
	ClassDenied                // robots.txt forbids it
	ClassNoHost                // its host has no address
	ClassUnlinked              // may be fetched, and is stored like ClassPage: no page links to it
	classCount
)

// String names the class.
func (c Class) String() string {
	return [...]string{"none", "page", "cut", "attempt", "optional", "denied", "nohost", "unlinked"}[c]
}

// Of is what is right for a target that was reached.
func Of(m *simweb.Model, t simweb.Target) Class {
	switch t.Kind {
	case simweb.KindNoHost:
		return ClassNoHost
	case simweb.KindTrap, simweb.KindUnknown, simweb.KindGuest, simweb.KindRobots, simweb.KindRobotsOf:
		return ClassNone
	}
	h := m.HostAt(int(t.Host))
	if h.Robots.DeniesAll() {
		return ClassDenied
	}
	switch t.Kind {
	case simweb.KindLand, simweb.KindBundle:
		return ClassPage
	case simweb.KindLoop:
		return ClassOptional
	case simweb.KindHop, simweb.KindNowhere:
		return ClassAttempt
	}
	f := h.PageAt(int(t.Page))
	switch {
	case f.Area.IsDenied():
		return ClassDenied
	case f.IsUnlinked:
		return ClassUnlinked
	case f.Shape == simweb.ShapeHuge:
		return ClassCut
	case f.Shape.IsLost():
		return ClassAttempt
	}
	return ClassPage
}
