package rebuild

import (
	"github.com/zeebo/xxh3"

	"orbweaver/engine/net/robots"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// robotsChains follow the redirects of robots.txt files: the next answer of a URL to which one redirects belongs to
// the robots.txt, and is not the answer of a queued URL.
type robotsChains struct {
	seed     uint64
	expected map[xxh3.Uint128]int // answers to come, by URL
}

// isRobots says whether a capture is that of a robots.txt, or of what it redirects to.
func (r *robotsChains) isRobots(c *storedCapture) bool {
	if !c.Robots {
		if len(r.expected) == 0 {
			return false
		}
		fp := urlx.Fingerprint(r.seed, c.url)
		if r.expected[fp] == 0 {
			return false
		}
		if !c.repeatable {
			if r.expected[fp]--; r.expected[fp] == 0 {
				delete(r.expected, fp)
			}
		}
	}
	if c.Outcome == outcome.Redirect {
		to, err := urlx.Resolve(nil, c.url, c.Page.Head().Location())
		if _, path := urlx.Split(to); err == nil && string(path) != robots.FilePath {
			r.expected[urlx.Fingerprint(r.seed, to)]++
		}
	}
	return true
}
