package rebuild

import (
	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/robotsanswer"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// robotsChains tell the answers that belong to a robots.txt from those of queued URLs.
type robotsChains struct {
	robotsanswer.Chains[struct{}]
}

func newRobotsChains(seed uint64) robotsChains {
	return robotsChains{robotsanswer.Chains[struct{}]{Seed: seed}}
}

// isRobots says whether a capture is that of a robots.txt, or of what it redirects to.
func (r *robotsChains) isRobots(c *storedCapture) (ok bool) {
	switch {
	case c.Robots:
	case c.repeatable: // it is tried again, so its answer is still to come
		_, ok = r.Find(c.url)
	default:
		_, ok = r.Take(c.url)
	}
	if !ok && !c.Robots {
		return false
	}
	if c.Outcome == outcome.Redirect {
		to, err := urlx.Resolve(nil, c.url, c.Page.Head().Location())
		if _, path := urlx.Split(to); err == nil && string(path) != robots.FilePath {
			r.Expect(to, struct{}{})
		}
	}
	return true
}
