package traps

import (
	"orbweaver/engine/traps/novelty"
	"orbweaver/internal/urlx"
)

// State is what the crawl knows of the parts of a site that contain a URL. A part is missing as long as too few of its
// pages were fetched to judge it.
type State struct {
	Part   *novelty.Part `json:"part,omitempty"`   // of the site: decides about the URL
	Domain *novelty.Part `json:"domain,omitempty"` // the first pages of all sites of the domain: decides about new sites
}

// Explain returns what the crawl knows of the parts that contain a URL. It changes nothing.
func (t *Detector) Explain(url []byte) (s State) {
	site, path := urlx.Split(url)
	if p, ok := t.pages.Explain(t.GroupOf(site), path); ok {
		s.Part = &p
	}
	if p, ok := t.pages.Explain(t.domainOf(site), nil); ok {
		s.Domain = &p
	}
	return s
}

// Words says in words what follows for the next URLs of a part.
func Words(p *novelty.Part) string {
	switch {
	case p == nil:
		return "too few pages to judge"
	case p.Endless:
		return "likely trap: its URLs are skipped"
	case p.Poor && p.Exempt:
		return "little new: its URLs are delayed, except those of new kinds, as this one"
	case p.Poor:
		return "little new: its URLs wait behind all others of the site"
	default:
		return "enough new: its URLs are not delayed"
	}
}
