package engine

import (
	"net/netip"
	"testing"
	"time"

	"orbweaver/engine/outcome"
)

// A page of a site without trouble costs no allocation, however many addresses the site has.
func TestAnAnsweredPageAllocatesNothing(t *testing.T) {
	var s Site
	s.setAddrs([]netip.Addr{netip.MustParseAddr("198.18.0.1"), netip.MustParseAddr("198.18.0.2")}, netip.MustParseAddr("198.18.0.1"), time.Time{})
	if n := testing.AllocsPerRun(100, s.answeredPage); n != 0 {
		t.Errorf("%v allocations for each page", n)
	}
	s.failed(outcome.Reset, time.Unix(1e9, 0), time.Time{})
	s.answeredPage()
	if s.trouble() != (trouble{}) || s.addrCount() != 2 {
		t.Errorf("trouble %+v and %d addresses after an answer", s.trouble(), s.addrCount())
	}
}
