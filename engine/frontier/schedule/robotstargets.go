package schedule

import (
	"hash/maphash"
	"sync"
	"time"

	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/site"
)

// RobotsTargets are the URLs at sites of this agent to which robots.txt files of other sites redirect, with the sites
// that wait for them. Any site can redirect its robots.txt to any other, so such a request must cost the visited site
// little:
//
//   - One request answers all sites that wait for the same URL, and those that ask for it soon after that.
//   - The queue of a site has at most one such request. While the site has URLs of its own, it gets at most one in
//     targetTurns turns.
//   - A request is not tried again. A site whose request failed asks a site that has URLs of its own again after
//     originFailureLife. While the failure of a URL holds, that it is not asked is no try.
//   - A site that waits itself for the redirect of its robots.txt does not answer. It is asked again after
//     targetFailureLife, and that is no try, unless both wait for each other.
//
// Nothing of it is saved: after a stop, the sites that wait ask for their robots.txt again. Safe for concurrent use.
type RobotsTargets struct {
	mu       sync.Mutex
	seed     maphash.Seed
	sites    map[string]*targetSite // by key; guarded by mu
	waitsFor map[string]string      // key of a site that waits, and of the site for which; guarded by mu
	waiting  int                    // redirects of all sites; guarded by mu
	nextStep time.Time              // guarded by mu
	nextLost time.Time              // when requests are looked for that were lost; guarded by mu
	recent   recentAnswers          // guarded by mu
}

const (
	targetTurns        = 10               // one in so many turns of a site is for other sites
	targetTurnMax      = time.Minute      // a longer turn counts as this long
	targetAnswerLife   = time.Hour        // so long an answer of a URL holds for sites that ask for it
	targetFailureLife  = 10 * time.Minute // the same of a failure
	originFailureLife  = time.Hour        // see RobotsTargets
	targetsWaitingMax  = 1 << 16          // sites that wait, in all
	targetsPerSiteMax  = 1 << 12          // sites that wait for one site
	recentAnswersMax   = 1 << 12          // URLs and sites in recentAnswers, times two
	recentRulesMax     = 8 << 20          // bytes of their rules, times two
	targetStepPeriod   = time.Second      // least time between two steps
	lostRequestsPeriod = 10 * time.Second // between two looks for lost requests
)

// targetSite are the redirects that lead to one site.
type targetSite struct {
	requests []targetRequest // the first is in the queue of the site if isAsked
	waiting  int             // redirects of all requests
	isAsked  bool
	nextAt   time.Time // before that, the site gets no request while it has URLs of its own
}

// targetRequest is one URL, with the redirects that lead to it.
type targetRequest struct {
	path      string
	redirects []*site.RobotsRedirect
}

// robotsAnswer is what a URL answered.
type robotsAnswer struct {
	rules  *robots.Rules // nil after a redirect or a failure
	to     string        // the URL of a redirect; empty for none
	failed bool
	fault  robots.Fault // of a failure
	at     time.Time
	until  time.Time // of a failure: the URL is not asked before; zero for at once
	isOld  bool      // nothing was asked for it
}

// holds reports whether an answer still holds.
func (a *robotsAnswer) holds(now time.Time) bool {
	life := targetAnswerLife
	if a.failed {
		life = targetFailureLife
	}
	return now.Before(a.at.Add(life))
}

// NewRobotsTargets returns a RobotsTargets without redirects.
func NewRobotsTargets() *RobotsTargets {
	return &RobotsTargets{
		seed: maphash.MakeSeed(), sites: make(map[string]*targetSite), waitsFor: make(map[string]string),
	}
}

// answerOf returns the recent answer of a URL.
func (t *RobotsTargets) answerOf(url []byte, now time.Time) (a robotsAnswer, known bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a, known = t.recent.find(maphash.Bytes(t.seed, url))
	return a, known && a.holds(now)
}

// hasFailed reports whether a request for a site has failed recently.
func (t *RobotsTargets) hasFailed(origin []byte, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	a, known := t.recent.find(maphash.Bytes(t.seed, origin))
	return known && now.Before(a.at.Add(originFailureLife))
}

// add lets a redirect wait for its target. It returns false if too many wait.
func (t *RobotsTargets) add(redirect *site.RobotsRedirect, path []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.addLocked(redirect, path) {
		return false
	}
	t.waitsFor[string(redirect.Origin)] = string(redirect.Site)
	return true
}

func (t *RobotsTargets) addLocked(redirect *site.RobotsRedirect, path []byte) bool {
	s := t.siteLocked(redirect.Site)
	for i := range s.requests {
		if r := &s.requests[i]; r.path == string(path) {
			for k, other := range r.redirects {
				if string(other.Origin) == string(redirect.Origin) {
					r.redirects[k] = redirect
					return true
				}
			}
			return t.countLocked(s, func() { r.redirects = append(r.redirects, redirect) })
		}
	}
	return t.countLocked(s, func() {
		s.requests = append(s.requests, targetRequest{string(path), []*site.RobotsRedirect{redirect}})
	})
}

func (t *RobotsTargets) siteLocked(key []byte) *targetSite {
	s := t.sites[string(key)]
	if s == nil {
		s = new(targetSite)
		t.sites[string(key)] = s
	}
	return s
}

// countLocked counts a redirect that put adds, if there is room for it.
func (t *RobotsTargets) countLocked(s *targetSite, put func()) bool {
	if t.waiting >= targetsWaitingMax || s.waiting >= targetsPerSiteMax {
		return false
	}
	t.waiting++
	s.waiting++
	put()
	return true
}

// isCycle reports whether a site waits for an origin, itself or by way of others.
func (t *RobotsTargets) isCycle(key, origin []byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := string(key)
	for range robots.RedirectsMax {
		if next = t.waitsFor[next]; next == "" {
			return false
		}
		if next == string(origin) {
			return true
		}
	}
	return true // a chain that long is no better
}

// next returns the item of the next request for a site that gets one now; nil if it gets none. isBusy says that the
// site has URLs of its own.
func (t *RobotsTargets) next(key []byte, isBusy bool, now time.Time) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sites[string(key)]
	if s == nil || s.isAsked || len(s.requests) == 0 || isBusy && now.Before(s.nextAt) {
		return nil
	}
	s.isAsked = true
	return s.requests[0].redirects[0].Item
}

// endWait ends the wait of the redirects to a URL with its answer, and returns them. The site gets its next request not
// before nextAt.
func (t *RobotsTargets) endWait(key, path []byte, a *robotsAnswer, nextAt time.Time) (ended []*site.RobotsRedirect) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.siteLocked(key)
	s.nextAt = nextAt
	for i := range s.requests {
		if s.requests[i].path != string(path) {
			continue
		}
		ended = s.requests[i].redirects
		t.forgetLocked(ended)
		s.requests = append(s.requests[:i], s.requests[i+1:]...)
		s.isAsked = s.isAsked && i > 0
		s.waiting -= len(ended)
		t.waiting -= len(ended)
		break
	}
	url := append(append([]byte(nil), key...), path...)
	t.recent.put(maphash.Bytes(t.seed, url), a)
	return ended
}

// forgetLocked forgets for which site the origins of redirects wait.
func (t *RobotsTargets) forgetLocked(redirects []*site.RobotsRedirect) {
	for _, redirect := range redirects {
		delete(t.waitsFor, string(redirect.Origin))
	}
}

// noteFailure notes that a request for a site has failed.
func (t *RobotsTargets) noteFailure(origin []byte, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recent.put(maphash.Bytes(t.seed, origin), &robotsAnswer{failed: true, at: now})
}

// takeAll removes all redirects to a site, and returns them.
func (t *RobotsTargets) takeAll(key []byte) (redirects []*site.RobotsRedirect) {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.sites[string(key)]
	if s == nil {
		return nil
	}
	for i := range s.requests {
		redirects = append(redirects, s.requests[i].redirects...)
	}
	t.forgetLocked(redirects)
	t.waiting -= s.waiting
	delete(t.sites, string(key))
	return redirects
}

// due returns the sites that get their next request now, and from time to time those that have one: it may be lost. It
// looks at most once in targetStepPeriod.
func (t *RobotsTargets) due(now time.Time) (next, asked []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.sites) == 0 || now.Before(t.nextStep) {
		return nil, nil
	}
	t.nextStep = now.Add(targetStepPeriod)
	findLost := !now.Before(t.nextLost)
	if findLost {
		t.nextLost = now.Add(lostRequestsPeriod)
	}
	for key, s := range t.sites {
		switch {
		case s.isAsked && findLost:
			asked = append(asked, key)
		case s.isAsked || now.Before(s.nextAt):
		case len(s.requests) == 0:
			delete(t.sites, key)
		default:
			next = append(next, key)
		}
	}
	return next, asked
}

// recentAnswers keeps the last answers, in bounded memory. The zero value is empty.
type recentAnswers struct {
	young, old map[uint64]robotsAnswer
	rulesBytes int // of young
}

func (r *recentAnswers) find(hash uint64) (a robotsAnswer, known bool) {
	if a, known = r.young[hash]; !known {
		a, known = r.old[hash]
	}
	return a, known
}

func (r *recentAnswers) put(hash uint64, a *robotsAnswer) {
	if r.young == nil || len(r.young) >= recentAnswersMax || r.rulesBytes >= recentRulesMax {
		r.young, r.old, r.rulesBytes = make(map[uint64]robotsAnswer), r.young, 0
	}
	r.young[hash] = *a
	r.rulesBytes += len(a.to)
	if !a.failed && a.to == "" {
		r.rulesBytes += a.rules.Size()
	}
}
