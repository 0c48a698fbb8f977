package components

import (
	"math"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// linkStream is the links that a crawl finds, as fingerprints. Pages of a number of sites come in turn, as politeness
// makes them; a page has forty links. Of these 65 % lead to the site itself, to its pages by rank r with a chance like
// 1/r (menus, then the rest); 25 % to the front pages of the web's sites, with a chance like 1/r over all of them; 10 %
// to any page of any site. When a site has been visited as often as it has pages another one takes its place.
type linkStream struct {
	state     uint64
	hosts     uint64
	pages     uint64 // of a site
	active    []visited
	next      uint64 // site that comes when one is done
	site      uint64
	linksLeft int // links of the page
}

type visited struct{ site, times uint64 }

const (
	pageLinks   = 40
	activeShare = 10 // one site in so many is being visited
)

func newLinkStream(urls, hosts, seed uint64) *linkStream {
	s := &linkStream{state: seed << 32, hosts: max(hosts, 1), pages: max(urls/max(hosts, 1), 1)}
	s.active = make([]visited, max(s.hosts/activeShare, 1))
	for i := range s.active {
		s.active[i] = visited{site: s.next, times: s.below(s.pages)}
		s.next++
	}
	return s
}

// fill makes the next fingerprints.
func (s *linkStream) fill(out []xxh3.Uint128) {
	for i := range out {
		out[i] = s.link()
	}
}

func (s *linkStream) link() xxh3.Uint128 {
	if s.linksLeft == 0 {
		v := &s.active[s.below(uint64(len(s.active)))]
		if v.times++; v.times > s.pages {
			*v = visited{site: s.next % s.hosts, times: 1}
			s.next++
		}
		s.site, s.linksLeft = v.site, pageLinks
	}
	s.linksLeft--
	site, page := s.site, uint64(0)
	switch u := s.below(100); {
	case u < 65:
		page = s.zipf(s.pages)
	case u < 90:
		site = mix(s.zipf(s.hosts)) % s.hosts // which sites are well known has nothing to do with when they are visited
	default:
		site, page = s.below(s.hosts), s.below(s.pages)
	}
	hi := mix(site<<32 | page)
	return xxh3.Uint128{Hi: hi, Lo: mix(hi)}
}

// below is a number from 0 to n-1.
func (s *linkStream) below(n uint64) uint64 {
	s.state++
	h, _ := bits.Mul64(mix(s.state), n)
	return h
}

// zipf is a number from 0 to n-1, r with a chance like 1/(r+1).
func (s *linkStream) zipf(n uint64) uint64 {
	s.state++
	u := float64(mix(s.state)>>11) / (1 << 53)
	return min(uint64(math.Exp(u*math.Log(float64(n+1))))-1, n-1)
}
