package fetch

import (
	"errors"
	"net/netip"
	"testing"
)

// specialAddresses has the first and the last address of every special-purpose range, and of the forms that lead to one.
func specialAddresses() []string {
	return []string{
		"0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255",
		"127.0.0.0", "127.0.0.1", "127.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.255.255",
		"172.16.0.0", "172.31.255.255", "192.0.0.0", "192.0.0.9", "192.0.0.255", "192.0.2.0", "192.0.2.255",
		"192.88.99.0", "192.88.99.255", "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255",
		"198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255", "224.0.0.0", "239.255.255.255",
		"240.0.0.0", "240.1.2.3", "255.255.255.254", "255.255.255.255",
		"::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1",
		"64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::", "100::ffff", "100:0:0:1::1",
		"2001::", "2001:0:7f00:1::1", "2001:1ff:ffff::1", "2001:2::1", "2001:10::1", "2001:20::1",
		"2001:db8::", "2001:db8:ffff::1", "2002::", "2002:7f00:1::1", "2002:808:808::1", "2002:ffff::1",
		"3fff::", "3fff:fff:ffff::1", "5f00::1", "fc00::", "fdff::1", "fe80::1", "febf::1", "fec0::1",
		"ff00::1", "ff02::1", "ffff::1", "4000::1", "1fff::1", "fe80::1%eth0", "2606:4700::1%eth0",
	}
}

// publicAddresses lie next to the special ones.
func publicAddresses() []string {
	return []string{
		"1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
		"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0",
		"192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
		"198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255", "::ffff:8.8.8.8",
		"2000::1", "2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "2606:4700::1111", "3ffe::1", "3fff:1000::1",
	}
}

func TestN10_SpecialAddresses(t *testing.T) {
	g := NewGuard(nil, nil, nil)
	for _, s := range specialAddresses() {
		if err := g.Check(netip.AddrPortFrom(netip.MustParseAddr(s), 80)); !errors.Is(err, ErrBlockedAddress) {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range publicAddresses() {
		if err := g.Check(netip.AddrPortFrom(netip.MustParseAddr(s), 80)); err != nil {
			t.Error(err)
		}
	}
	if err := g.Check(netip.AddrPort{}); !errors.Is(err, ErrBlockedAddress) {
		t.Errorf("no address: %v", err)
	}
}

func TestN12_Ports(t *testing.T) {
	g := NewGuard([]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, []int{7777, -1, 70000}, nil)
	for addr, want := range map[string]error{
		"8.8.8.8:80": nil, "8.8.8.8:443": nil, "8.8.8.8:8080": nil, "8.8.8.8:8443": nil, "8.8.8.8:7777": nil,
		"8.8.8.8:22": ErrBlockedPort, "8.8.8.8:25": ErrBlockedPort, "8.8.8.8:6379": ErrBlockedPort, "8.8.8.8:0": ErrBlockedPort,
		"[2606:4700::1]:22": ErrBlockedPort, "192.0.2.1:22": nil,
	} {
		if err := g.Check(netip.MustParseAddrPort(addr)); !errors.Is(err, want) {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

func TestGuardAllows(t *testing.T) {
	g := NewGuard([]netip.Prefix{
		netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::ffff:10.1.0.0/112"), netip.MustParsePrefix("::/0"),
		netip.MustParsePrefix("240.0.0.0/4"),
	}, nil, nil).Deny(netip.MustParsePrefix("127.0.0.99/32"), netip.MustParsePrefix("8.8.4.4/32"))
	for addr, allowed := range map[string]bool{
		"127.0.0.1:9": true, "[::ffff:127.0.0.1]:9": true, "10.1.2.3:9": true, "10.2.2.3:80": false, "[::1]:9": true,
		"[64:ff9b::808:808]:80": true, "[64:ff9b::a00:1]:80": false, "[64:ff9b::7f00:1]:80": true,
		"240.0.0.1:80": false, "[::ffff:240.0.0.1]:80": false, "127.0.0.99:80": false, "8.8.4.4:80": false, "8.8.8.8:80": true,
	} {
		if err := g.Check(netip.MustParseAddrPort(addr)); (err == nil) != allowed {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// A proxy is reachable as a proxy only, and with the proxy's guard nothing else is.
func TestGuardUpstream(t *testing.T) {
	proxy := netip.MustParseAddrPort("127.0.0.1:3128")
	g := NewGuard(nil, nil, []netip.AddrPort{proxy})
	if err := g.Check(proxy); !errors.Is(err, ErrBlockedAddress) {
		t.Errorf("a page at the proxy's address: %v", err)
	}
	up := g.Upstream()
	if err := up.Check(proxy); err != nil {
		t.Error(err)
	}
	for _, s := range []string{"127.0.0.1:3129", "127.0.0.2:3128", "8.8.8.8:80"} {
		if err := up.Check(netip.MustParseAddrPort(s)); !errors.Is(err, ErrBlockedAddress) {
			t.Errorf("%s through the proxy's guard: %v", s, err)
		}
	}
}

func TestGuardDoesNotAllocate(t *testing.T) {
	g := NewGuard([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, nil, nil)
	addr := netip.MustParseAddrPort("[2606:4700::1111]:443")
	if n := testing.AllocsPerRun(100, func() { _ = g.Check(addr) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
