package simweb

// separateOf returns the first host of the separate component that host i belongs to; ok is false if it belongs to
// none.
func (m *Model) separateOf(i int) (first int, ok bool) {
	n := i - m.plainHosts()
	if n < 0 || i >= m.outsideFarms() {
		return 0, false
	}
	return i - n%m.config.SeparateHosts, true
}

// isUnlinked says that no page links to a page of the host.
func (h *Host) isUnlinked(page int) bool {
	return (h.series != 0 || h.hasFolders) && h.model.config.Unlinked > 0 && h.PageAt(page).IsUnlinked
}

// linked is a page of the host, or its root if no page may link to that.
func (h *Host) linked(page int) Target {
	if h.isUnlinked(page) {
		page = 0
	}
	return Target{Host: int32(h.Index), Page: uint32(page)}
}

// HiddenPages counts the pages of separate components, and the pages that no page links to. Those of a separate
// component can be both. It does not count in worlds of more than a million hosts.
func (m *Model) HiddenPages() (ofSeparate, unlinked int) {
	if m.config.Hidden == (Hidden{}) || m.config.Hosts > 1_000_000 {
		return 0, 0
	}
	for i := range m.outsideFarms() {
		if _, isSeparate := m.separateOf(i); isSeparate {
			ofSeparate += m.pagesOf(i)
		}
		unlinked += m.UnlinkedOf(i)
	}
	return ofSeparate, unlinked
}

// UnlinkedOf counts the pages of host i that no page links to.
func (m *Model) UnlinkedOf(i int) (n int) {
	h := m.HostAt(i)
	for page := range h.Pages {
		if h.isUnlinked(page) {
			n++
		}
	}
	return n
}
