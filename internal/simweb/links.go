package simweb

import (
	"fmt"

	"orbweaver/internal/simweb/draw"
)

// Link is one reference on a page.
type Link struct {
	Target Target
	tree   bool // part of the tree that makes every page reachable
}

// AppendLinks appends what a page links to, in the order of the document. The script of a tool is the last. A page that
// a browser must draw has no other link.
func (h *Host) AppendLinks(dst []Link, t Target, f *Page) []Link {
	if !h.IsOfTool(t, f) {
		return h.appendOwnLinks(dst, t, f)
	}
	if !h.IsDrawn {
		dst = h.appendOwnLinks(dst, t, f)
	}
	return append(dst, Link{Target: Target{Host: int32(h.Index), Kind: KindBundle}})
}

// appendOwnLinks appends the links to pages. A page that may come to harm on its way, or shares its payload with
// others, links to its host's root only, or to nothing.
func (h *Host) appendOwnLinks(dst []Link, t Target, f *Page) []Link {
	if t.Kind != KindPage || f.Media != MediaHTML || !f.Shape.linked() || f.Copy > 0 || f.IsUnlinked {
		if t.Kind == KindLand || t.Kind == KindPage && f.Media == MediaHTML && !f.Shape.IsLost() {
			dst = append(dst, Link{Target: Target{Host: int32(h.Index)}})
		}
		return dst
	}
	m, p := h.model, int(t.Page)
	r := draw.RNG(h.Hash(saltLinks, p))
	tree := 0
	for k := p*m.config.PageFanout + 1; k <= p*m.config.PageFanout+m.config.PageFanout && k < h.Pages; k++ {
		if tree++; !h.isUnlinked(k) {
			dst = append(dst, Link{Target: Target{Host: int32(h.Index), Page: uint32(k)}, tree: true})
		}
	}
	farm, _, isFarm := m.FarmOf(h.Index)
	if p == 0 {
		for k, to := m.below(h.Index); k < to; k++ {
			dst = append(dst, Link{Target: Target{Host: int32(k)}, tree: true})
			tree++
		}
		if !isFarm {
			dst = h.appendBought(dst)
		}
	}
	mean, external := m.config.LinksMean, m.config.ExternalShare
	if h.IsHub && p == 0 {
		mean, external = m.config.HubLinks, 1
	}
	// Uniform between half and one and a half of the mean.
	extra := mean/2 + r.Below(mean+1) - tree
	for ; extra > 0; extra-- {
		if isFarm {
			dst = append(dst, Link{Target: h.farmLink(farm, &r)})
		} else {
			dst = append(dst, Link{Target: h.extraLink(&r, external)})
		}
	}
	return dst
}

// extraLink draws a link beside the tree, which leaves the host with a probability.
func (h *Host) extraLink(r *draw.RNG, external float64) Target {
	m := h.model
	u := r.Float()
	switch {
	case u < m.config.Faults.NoHost:
		return Target{Host: -1, Kind: KindNoHost, Page: uint32(r.Below(max(10, m.config.Hosts/10)))}
	case u < m.config.Faults.NoHost+m.config.Faults.DeadLinks:
		return Target{Host: int32(h.Index), Kind: KindNowhere, Page: uint32(r.Below(1000))}
	}
	if r.Float() >= external {
		return h.linked(m.popular(r, h.Pages))
	}
	// Popular hosts are those with low numbers; every second link from outside leads to the root.
	first, hosts := 0, m.plainHosts()
	if from, isSeparate := m.separateOf(h.Index); isSeparate {
		first, hosts = from, m.config.SeparateHosts
	}
	i := first + m.popular(r, hosts)
	if m.config.Topics > 0 && r.Float() < m.config.Homophily {
		for tries := 0; tries < topicTries && m.TopicOf(i) != m.TopicOf(h.Index); tries++ {
			i = first + m.popular(r, hosts)
		}
	}
	if r.Next()&1 == 0 {
		return Target{Host: int32(i)}
	}
	page := m.popular(r, m.pagesOf(i))
	if m.config.Unlinked > 0 {
		to := m.HostAt(i)
		return to.linked(page)
	}
	return Target{Host: int32(i), Page: uint32(page)}
}

// topicTries is how many hosts are drawn for one of the same topic.
const topicTries = 200

// TopicOf returns the topic of a host, below Config.Topics.
func (m *Model) TopicOf(host int) int {
	return int(m.Hash(saltTopic, host, 0) % uint64(max(m.config.Topics, 1)))
}

// AppendTopic appends the word for the topic of a host.
func (m *Model) AppendTopic(dst []byte, host int) []byte {
	return fmt.Appendf(dst, "topic%02d", m.TopicOf(host))
}

// popular draws the number of a host or page that an extra link leads to: the lower, the more popular.
func (m *Model) popular(r *draw.RNG, n int) int {
	if !m.config.Scattered {
		return r.Zipf(n)
	}
	return int(uint64(r.Zipf(n)) * scatter % uint64(n))
}

// scatter is a prime, so that the popular ones have numbers far from each other.
const scatter = 1_000_003

// linked says that a page of this shape arrives whole and readable at any sound crawler, so that links may hang on it.
func (s Shape) linked() bool {
	switch s {
	case ShapePlain, ShapeChunked, ShapeChunkedOdd, ShapeGzip, ShapeOddHeaders, ShapeUntilClose:
		return true
	}
	return false
}

// IsLost reports whether a page of this shape never arrives whole. Then it has no links, since a crawler may read or
// miss them.
func (s Shape) IsLost() bool { return s >= ShapeNotFound }

// hopsMax is the longest redirect chain, loopSteps the length of the loops.
const (
	hopsMax   = 5
	loopSteps = 3
)

// hops is the number of redirects from a page to where it lands, 1 to hopsMax.
func (h *Host) hops(page int) int { return 1 + int(h.Hash(SaltAnswer, page)%hopsMax) }

// Redirect returns where a target redirects to, and the status it does it with; status 0 if it does not redirect.
func (h *Host) Redirect(t Target, f *Page) (to Target, status int) {
	hash := h.Hash(SaltAnswer, int(t.Page))
	status = [...]int{301, 302, 303, 307, 308}[(hash>>8+uint64(t.Step))%5]
	to = t
	left := 0
	switch {
	case t.Kind == KindPage && f.Shape == shapeRedirect:
		left = h.hops(int(t.Page)) - 1
	case t.Kind == KindHop:
		left = int(t.Step) - 1
	case t.Kind == KindPage && f.Shape == shapeRedirectLoop:
		to.Kind, to.Step = KindLoop, 0
		return to, status
	case t.Kind == KindLoop:
		to.Step = (t.Step + 1) % loopSteps
		return to, status
	case t.Kind == KindPage && f.Shape == shapeRedirectAway:
		return Target{Host: int32(h.model.away(hash))}, status
	default:
		return Target{}, 0
	}
	to.Kind, to.Step = KindHop, uint8(left)
	if left == 0 {
		to.Kind = KindLand
	}
	return to, status
}
