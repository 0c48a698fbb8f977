package site

const (
	aheadMax = 200 // requisites of pages that precede other pages, unless paid for
	pagePays = 100 // of these, for which each page pays
	deepMax  = 100 // requisites of style sheets and frames that precede pages, unless paid for. Two pages pay for one

	totalShift = 8
	totalMax   = 1<<(32-totalShift) - 1
)

// RequisiteCount has two numbers of page requisites that a site was asked for. The high 24 bits are all of them. The
// low 8 bits are those of pages that no page has paid for. Each stops at its limit. There is one for each known site.
type RequisiteCount uint32

// Total returns the number of all requisites.
func (c RequisiteCount) Total() int { return int(c >> totalShift) }

func (c RequisiteCount) ahead() uint32 { return uint32(c & (1<<totalShift - 1)) }

func newRequisiteCount(total int, ahead uint32) RequisiteCount {
	return RequisiteCount(min(total, totalMax)<<totalShift) | RequisiteCount(min(ahead, aheadMax))
}

// CountRequisite counts a page requisite that is so many embed hops from its page. Pages pay for their own requisites,
// and hardly for what a style sheet or a frame needs: one page can lead to any number of those.
func CountRequisite(s *State, embeds int) {
	ahead := s.Requisites.ahead()
	if embeds == 1 {
		ahead++
	} else {
		s.DeepRequisites = min(s.DeepRequisites+2, 2*deepMax)
	}
	s.Requisites = newRequisiteCount(s.Requisites.Total()+1, ahead)
}

// CountPage counts a stored page that is no requisite: it pays for requisites.
func CountPage(s *State) {
	s.Requisites = newRequisiteCount(s.Requisites.Total(), max(s.Requisites.ahead(), pagePays)-pagePays)
	s.DeepRequisites = max(s.DeepRequisites, 1) - 1
}

// MayPrecede reports whether a requisite that is so many embed hops from its page may precede the pages of a site,
// beside a number of requisites that wait already.
func MayPrecede(s *State, embeds, waiting int) bool {
	if embeds == 1 {
		return int(s.Requisites.ahead())+waiting < aheadMax
	}
	return int(s.DeepRequisites)/2+waiting < deepMax
}

// mergeRequisites takes the larger numbers of two states of a site.
func mergeRequisites(s, known *State) {
	a, b := s.Requisites, known.Requisites
	s.Requisites = newRequisiteCount(max(a.Total(), b.Total()), max(a.ahead(), b.ahead()))
	s.DeepRequisites = max(s.DeepRequisites, known.DeepRequisites)
}
