package limits

import (
	"math"
	"net/netip"
	"testing"
)

// TestQuotas counts sites and pages of two domains and one address.
func TestQuotas(t *testing.T) {
	q := NewQuotas(QuotaOptions{HostsPerDomain: 2, PagesPerDomain: 3, HostsPerAddr: 1})
	a, b, other := []byte("http://a.example.com"), []byte("https://b.example.com"), []byte("http://example.org")
	q.AddSite(a)
	if q.HostsReached(b) {
		t.Error("one host of two is known, and the limit is reached")
	}
	q.AddKnownSite(b, netip.MustParseAddr("192.0.2.1"), 2)
	if !q.HostsReached(a) || q.HostsReached(other) {
		t.Error("two hosts of example.com are known: the limit of this domain, and of no other, must be reached")
	}
	if q.PagesReached(a) {
		t.Error("two pages of three are stored, and the limit is reached")
	}
	q.AddPage([]byte("http://a.example.com/page?x=1"))
	if !q.PagesReached(b) || q.PagesReached(other) {
		t.Error("three pages of example.com are stored: the limit of this domain, and of no other, must be reached")
	}
	if q.AddHostAt(netip.MustParseAddr("192.0.2.1")) || !q.AddHostAt(netip.MustParseAddr("192.0.2.2")) {
		t.Error("an address takes one host: the first is taken, the second is free")
	}
}

// TestQuotas_aLimitThatIsGivenLater counts what is known when the limit comes, and not again when it changes.
func TestQuotas_aLimitThatIsGivenLater(t *testing.T) {
	q, site := NewQuotas(QuotaOptions{}), []byte("http://a.example.com")
	q.AddSite(site) // nothing is counted
	counts := 0
	count := func() error {
		counts++
		q.AddKnownSite(site, netip.MustParseAddr("192.0.2.1"), 4)
		return nil
	}
	for _, most := range []int{4, 5, 0} {
		if err := q.Change(QuotaOptions{PagesPerDomain: most}, count); err != nil {
			t.Fatal(err)
		}
		if counts != 1 || q.PagesReached(site) != (most == 4) {
			t.Errorf("at most %d pages: counted %d times, reached %v", most, counts, q.PagesReached(site))
		}
	}
}

// TestQuotasWithoutLimits holds the zero value to its promise: it counts nothing and refuses nothing.
func TestQuotasWithoutLimits(t *testing.T) {
	q, site := new(Quotas), []byte("http://a.example.com")
	q.AddSite(site)
	q.AddPage(site)
	q.AddKnownSite(site, netip.MustParseAddr("192.0.2.1"), 9)
	if q.AreSet() || q.HostsReached(site) || q.PagesReached(site) || !q.AddHostAt(netip.MustParseAddr("192.0.2.1")) {
		t.Error("quotas without limits refuse")
	}
}

// A limit beyond 32 bits is a limit, not zero and not reached at once.
func TestQuotas_limitsBeyond32Bits(t *testing.T) {
	site, addr := []byte("http://a.example.com"), netip.MustParseAddr("192.0.2.1")
	for _, most := range []int{1<<31 - 1, 1 << 31, 3_000_000_000, 1 << 32, math.MaxInt} {
		q := NewQuotas(QuotaOptions{HostsPerDomain: most, PagesPerDomain: most, HostsPerAddr: most})
		q.AddKnownSite(site, addr, math.MaxInt32)
		q.AddPage(site)
		if q.HostsReached(site) || !q.AddHostAt(addr) || q.PagesReached(site) != (most <= 1<<31) {
			t.Errorf("at most %d: hosts reached %v, 2^31 pages reach the limit %v", most, q.HostsReached(site),
				q.PagesReached(site))
		}
	}
}
