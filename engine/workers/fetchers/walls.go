package fetchers

import (
	"bytes"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/page/wall"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// wallOf returns the service whose wall a response is, "" for a page. o is the outcome that it has otherwise.
func (x *exchange) wallOf(c *current, p *fetch.Page, o outcome.Outcome) string {
	rules := x.Live.Walls.Load()
	service := x.walls.Service(rules, p)
	if service == "" && o == outcome.Redirect && !rules.IsEmpty() && x.isLogIn(c, p) {
		return wall.LogIn
	}
	return service
}

// isLogIn reports whether a redirect leads to the log-in or consent page to which the site redirects everything. While
// the site waits because of a wall, one redirect to such a page shows that it still stands.
func (x *exchange) isLogIn(c *current, p *fetch.Page) bool {
	if !wall.LeadsToLogIn(p.Head().Location()) {
		return false
	}
	target, err := urlx.Resolve(nil, p.URL, p.Head().Location())
	if err != nil {
		return false
	}
	target, _, _ = bytes.Cut(target, []byte{'?'})
	if own, _, _ := bytes.Cut(p.URL, []byte{'?'}); bytes.Equal(own, target) { // the log-in page itself
		return false
	}
	switch {
	case c.site.FailureStreak().LastOutcome == outcome.Wall:
		return true
	case c.kind != pageRequest || c.queued.Tries > 0 || queued.IsRequisite(c.queued.Embeds):
		return false
	default:
		return site.NoteLogIn(&c.site, uint32(xxh3.HashSeed(target, x.HashSeed)))
	}
}
