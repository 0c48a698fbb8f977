package workbench

import (
	"net/netip"
	"time"
)

// history is what the bench remembers between two cuts, so that the next one need only write what is new.
type history[S any] struct {
	// listing says that the last cut's image was wholly written, or will be if all goes well, and that changes are
	// noted since. Otherwise the next image must be whole, and there is nothing to note.
	listing bool
	sites   numbers // changed since the last cut
	ips     numbers // entries made or changed since
	dropped []netip.Addr
	gone    []uint32 // numbers of sites that were evicted since
	spare   [2]numbers

	cut   *Cut[S] // the one that is being written, or nil
	stamp uint64  // of the last image that was wholly written
	skew  int64   // of the clock, at the last whole image
}

// skewMax is how far the wall clock may step before due times that were written under it are written again: an image keeps
// them as wall time.
const skewMax = int64(time.Second)

// forget begins anew: the next image will be whole.
func (h *history[S]) forget() {
	h.listing = false
	h.sites.clear()
	h.ips.clear()
	h.dropped, h.gone = nil, nil
}

// left notes that a number is free.
func (h *history[S]) left(id uint32) {
	if h.listing {
		h.gone = append(h.gone, id)
	}
}

// touch is called before anything about a site changes: its image is put aside if the cut still needs it.
func (w *Workbench[S]) touch(s *site[S]) {
	s.flags |= flagUsed
	h := &w.history
	if !h.listing || !h.sites.add(s.id) {
		return
	}
	if c := h.cut; c != nil && s.id <= c.last && s.id > c.atSite && (!c.partial || c.sites.has(s.id)) {
		c.aside = c.imageOfSite(c.aside, s)
	}
}

// touchFree is called before a free number is given out. A cut that is being written has no site of that number, or has put it aside.
func (w *Workbench[S]) touchFree(id uint32) {
	if w.history.listing {
		w.history.sites.add(id)
	}
}

// touchEntry is called before an IP's due time changes, and when it is made.
func (w *Workbench[S]) touchEntry(id uint32) {
	h := &w.history
	if !h.listing || !h.ips.add(id) {
		return
	}
	if c := h.cut; c != nil && id <= c.lastIP && id > c.atIP && (!c.partial || c.ips.has(id)) {
		c.aside = c.imageOfIP(c.aside, id)
	}
}
