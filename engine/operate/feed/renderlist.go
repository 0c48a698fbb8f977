package feed

import (
	"io"

	"github.com/zeebo/xxh3"

	"orbweaver/internal/urlx"
)

// RenderList writes the URLs of pages that a browser must draw, a line each, and each once.
type RenderList struct {
	Out  io.Writer
	Most int // URLs of a site; 0 for all

	sites map[string]int
	known map[xxh3.Uint128]struct{}
}

// Add writes the URL of a change, if a browser must draw the page and its site has not had its URLs.
func (l *RenderList) Add(c *Change) error {
	if !c.Render {
		return nil
	}
	if l.sites == nil {
		l.sites, l.known = map[string]int{}, map[xxh3.Uint128]struct{}{}
	}
	site, _ := urlx.Split([]byte(c.URL))
	key := xxh3.HashString128(c.URL)
	if _, isKnown := l.known[key]; isKnown || l.Most > 0 && l.sites[string(site)] >= l.Most {
		return nil
	}
	l.sites[string(site)]++
	l.known[key] = struct{}{}
	_, err := io.WriteString(l.Out, c.URL+"\n")
	return err
}
