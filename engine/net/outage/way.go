package outage

import (
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/internal/outcome"
	"orbweaver/internal/throttle"
)

// Way watches answers that a proxy or another gateway gives in place of a site, and tells them from answers of sites:
// see docs/adr/0063-the-way-is-not-the-server.md.
//
// Outage of the way: at least wayPlacesMin sites fail on the way, or get the same answer of a captive portal, for at
// least wayTimeMin, and no site answers in between. Then the way is down until a site answers. Meanwhile only one
// exchange in wayProbePeriod begins, and no failure counts. One answer of any site ends the outage, so a few hostile
// sites cannot hold the others back.
type Way struct {
	warn   func(msg string, args ...any)
	portal *portal

	lastAnswer atomic.Int64 // when a site answered last, in Unix nanoseconds

	mu        sync.Mutex
	fault     outcome.Way // the last one
	faults    row         // of sites, since any site has answered
	downSince time.Time   // start of the outage; zero if there is none
	nextProbe time.Time
	throttles [outcome.WayRefused + 1]throttle.Log
	isLogged  bool // the start of this outage was logged
}

const (
	wayPlacesMin   = 4                      // sites that fail on the way
	wayTimeMin     = 5 * time.Second        // for so long
	wayProbePeriod = 100 * time.Millisecond // between two exchanges during an outage
)

// row is a number of events in a row that have something in common.
type row struct {
	count   int
	places  map[string]struct{} // sites or domains of the events; at most wayPlacesMin
	firstAt time.Time
}

// add adds an event.
func (r *row) add(place []byte, now time.Time) {
	if r.count == 0 {
		r.firstAt = now
	}
	r.count++
	if _, known := r.places[string(place)]; known || len(r.places) == wayPlacesMin {
		return
	}
	if r.places == nil {
		r.places = make(map[string]struct{}, wayPlacesMin)
	}
	r.places[string(place)] = struct{}{}
}

func (r *row) clear() {
	r.count, r.firstAt = 0, time.Time{}
	clear(r.places)
}

// isOutage reports whether the row is one of many places, and long enough.
func (r *row) isOutage(now time.Time) bool {
	return len(r.places) == wayPlacesMin && now.Sub(r.firstAt) >= wayTimeMin
}

// NewWay returns a Way that is up. domainOf returns the registrable domain of a host. warn logs warnings with key-value
// fields.
func NewWay(domainOf func(host []byte) []byte, warn func(msg string, args ...any)) *Way {
	return &Way{warn: warn, portal: &portal{domainOf: domainOf}}
}

// NoteFault notes a fault of the way in an exchange with a site, which has just ended. It reports whether the way is
// down: then the fault counts neither against the site nor as a try.
func (w *Way) NoteFault(fault outcome.Way, site []byte, cause string, now time.Time) (down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
	if n, ok := w.throttles[fault].Allow(now); ok {
		w.warn(textOf(fault).warning, "remedy", textOf(fault).remedy, "site", string(site), "cause", cause, "times", n)
		w.isLogged = true
	}
	return w.addFault(site, now)
}

// NoteSilence notes that an exchange through a proxy has ended without an answer, though the site answered before. It
// reports whether the way is down.
func (w *Way) NoteSilence(site []byte, now time.Time) (down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.faults.count == 0 {
		w.fault = outcome.WayDown
	}
	return w.addFault(site, now)
}

// addFault adds a fault to the row. The caller holds mu.
func (w *Way) addFault(site []byte, now time.Time) (down bool) {
	if w.faults.add(site, now); w.faults.isOutage(now) {
		w.begin(now)
	}
	return !w.downSince.IsZero()
}

// begin begins an outage, unless there is one. The caller holds mu.
func (w *Way) begin(now time.Time) {
	if !w.downSince.IsZero() {
		return
	}
	w.downSince = now
	if n, ok := w.throttles[outcome.WayOpen].Allow(now); ok {
		w.warn("no site answers: the way to the sites is closed; failures do not count, and the crawl goes on by itself",
			"fault", textOf(w.fault).state, "remedy", textOf(w.fault).remedy, "times", n)
		w.isLogged = true
	}
}

// Answer is a response that may be of a site.
type Answer struct {
	Kind      AnswerKind
	Host      []byte
	Target    []byte // of a redirect: the host to which it leads
	Status    int
	Payload   []byte
	IsRobots  bool
	Served    bool // the site has served a page before
	FirstByte time.Time
	EndedAt   time.Time
}

// Suspicion is what a response that may be that of a captive portal calls for.
type Suspicion uint8

// The suspicions.
const (
	Believed  Suspicion = iota // it is the site's
	AskRobots                  // it is used, but the robots.txt of the site should be asked for again as a proof
	Suspect                    // it must not be used, and the URL is asked for again
)

// NoteAnswer evaluates a response, and says whether it is probably that of a captive portal.
func (w *Way) NoteAnswer(a *Answer) Suspicion {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.portal.judge(a)
	if s == Suspect {
		if w.portal.row.isOutage(a.EndedAt) {
			w.fault = outcome.WayPortal
			w.begin(a.EndedAt)
		} else if n, ok := w.throttles[outcome.WayPortal].Allow(a.EndedAt); ok {
			w.warn("the same answer comes again and again where pages were: it is not used, and its URLs are asked for again",
				"site", string(a.Host), "redirects_to", string(a.Target), "times", n)
		}
		return s
	}
	if a.FirstByte.Before(w.downSince) || w.faults.count > 0 && a.FirstByte.Before(w.faults.firstAt) {
		return s // it was on its way before
	}
	w.lastAnswer.Store(a.EndedAt.UnixNano())
	w.faults.clear()
	if !w.downSince.IsZero() {
		if w.isLogged || a.EndedAt.Sub(w.downSince) >= longOutage {
			w.warn("sites answer again", "after", a.EndedAt.Sub(w.downSince).Round(time.Second).String())
		}
		w.downSince, w.isLogged = time.Time{}, false
	}
	return s
}

// HasAnsweredSince reports whether a site has answered after t.
func (w *Way) HasAnsweredSince(t time.Time) bool { return w.lastAnswer.Load() > t.UnixNano() }

// HasRefusedAll reports whether no site has answered, because the proxy asks for other credentials or refuses all
// requests.
func (w *Way) HasRefusedAll() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	refuses := w.fault == outcome.WayLocked || w.fault == outcome.WayRefused
	return refuses && w.lastAnswer.Load() == 0 && w.faults.count > 0
}

// MayAsk reports whether an exchange may begin. During an outage one may in wayProbePeriod.
func (w *Way) MayAsk(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.downSince.IsZero() || !now.Before(w.nextProbe) {
		w.nextProbe = now.Add(wayProbePeriod)
		return true
	}
	return false
}

// WayState is what is wrong with the way.
type WayState struct {
	FailingSince time.Time // since then no site has answered; zero if nothing is wrong
	IsDown       bool      // it is an outage of the way
	Fault        string    // a phrase
	Remedy       string
}

// State returns what is wrong with the way now.
func (w *Way) State(now time.Time) WayState {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := WayState{IsDown: !w.downSince.IsZero(), Fault: textOf(w.fault).state, Remedy: textOf(w.fault).remedy}
	switch {
	case w.faults.count > 0 && (w.fault.IsWhole() || now.Sub(w.faults.firstAt) >= wayTimeMin):
		s.FailingSince = w.faults.firstAt
	case s.IsDown:
		s.FailingSince = w.downSince
	default:
		return WayState{}
	}
	return s
}

// wayText says what a fault is and what to do about it.
type wayText struct{ warning, state, remedy string }

// textOf returns the text of a fault.
func textOf(fault outcome.Way) wayText {
	return [...]wayText{
		outcome.WayDown: {
			"the proxy cannot be reached, or does not answer as a proxy", "the proxy cannot be reached or does not answer",
			"check that the proxy runs, and its address in --proxy",
		},
		outcome.WayLocked: {
			"the proxy asks for a password, or refuses the one that it got", "the proxy asks for a password (407)",
			"--proxy http://USER:PASSWORD@HOST:PORT, in ORBWEAVER_PROXY or a file for --config",
		},
		outcome.WayPortal: {
			"a gateway of the network answers in place of the sites", "a gateway of the network asks for a login",
			"log in to the network with a browser on this machine",
		},
		outcome.WayRefused: {
			"the proxy refuses a request", "the proxy refuses the requests",
			"see the rules and the quota of the proxy, and its log",
		},
	}[fault]
}
