package simweb

import "orbweaver/internal/simweb/draw"

// Farm is what a spam farm of a skewed world is like: hosts of one registrable domain that link to each other, and to
// nothing else. Farms have the highest numbers of hosts.
type Farm struct {
	Farms   int // how many
	Hosts   int // of each
	Pages   int // of each host
	Bought  int // pages of other hosts that link to the first host of a farm
	Boosted int // one link of so many leads to the first page of the farm; 0 for none
}

// outsideFarms is the number of hosts that belong to no farm.
func (m *Model) outsideFarms() int { return m.config.Hosts - m.config.Farm.Farms*m.config.Farm.Hosts }

// plainHosts is the number of hosts that belong to no farm and no separate component. Their numbers are the lowest.
func (m *Model) plainHosts() int { return m.outsideFarms() - m.config.Separate*m.config.SeparateHosts }

// FarmOf returns the farm of host i, and which of its hosts it is; ok is false if it belongs to none.
func (m *Model) FarmOf(i int) (farm, member int, ok bool) {
	n := i - m.outsideFarms()
	if n < 0 {
		return 0, 0, false
	}
	return n / m.config.Farm.Hosts, n % m.config.Farm.Hosts, true
}

// firstOf is the first host of a farm.
func (m *Model) firstOf(farm int) int { return m.outsideFarms() + farm*m.config.Farm.Hosts }

// pagesOf is the number of pages of host i.
func (m *Model) pagesOf(i int) int {
	if _, _, isFarm := m.FarmOf(i); isFarm {
		return m.config.Farm.Pages
	}
	return int(m.pages[m.Hash(saltHost, i, 0)>>52])
}

// below returns the hosts from, from+1 ... to-1, which hang on the root of host i in the tree of hosts. The first host
// of a farm hangs on the hosts of sellersOf instead.
func (m *Model) below(i int) (from, to int) {
	base, n := 0, m.plainHosts()
	if farm, member, isFarm := m.FarmOf(i); isFarm {
		base, i, n = m.firstOf(farm), member, m.config.Farm.Hosts
	} else if first, isSeparate := m.separateOf(i); isSeparate {
		base, i, n = first, i-first, m.config.SeparateHosts
	}
	from = i*m.config.HostFanout + 1
	return base + min(from, n), base + min(from+m.config.HostFanout, n)
}

// appendBought appends the links of the root of a plain host to farms that have bought one there.
func (h *Host) appendBought(dst []Link) []Link {
	m := h.model
	for farm := range m.config.Farm.Farms {
		for k := range m.config.Farm.Bought {
			if r := draw.RNG(m.Hash(saltFarm, farm, k)); r.Zipf(m.plainHosts()) == h.Index {
				dst = append(dst, Link{Target: Target{Host: int32(m.firstOf(farm))}, tree: true})
			}
		}
	}
	return dst
}

// farmLink draws a link of a page of a farm.
func (h *Host) farmLink(farm int, r *draw.RNG) Target {
	m := h.model
	first := m.firstOf(farm)
	if boosted := m.config.Farm.Boosted; boosted > 0 && r.Below(boosted) == 0 {
		return Target{Host: int32(first)}
	}
	return Target{Host: int32(first + r.Below(m.config.Farm.Hosts)), Page: uint32(r.Below(m.config.Farm.Pages))}
}
