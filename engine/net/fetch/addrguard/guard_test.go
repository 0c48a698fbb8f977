package addrguard

import (
	"errors"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"testing"

	"orbweaver/internal/urlx"
)

// registries has the rows of the IANA registries of IPv4 and IPv6 special-purpose addresses, and everything that is no
// unicast address.
func registries() []string {
	return []string{
		"0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32", "192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32",
		"192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16",
		"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32",
		"224.0.0.0/4",

		"::1/128", "::/128", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64",
		"2001::/23", "2001::/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48", "2001:3::/32",
		"2001:4:112::/48", "2001:10::/28", "2001:20::/28", "2001:30::/28", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48",
		"3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10",
		"ff00::/8", "fec0::/10", "::/96", "::ffff:0:0:0/96", "200::/7", "400::/6", "800::/5", "1000::/4", "4000::/3",
		"6000::/3", "8000::/3", "a000::/3", "c000::/3", "e000::/4", "f000::/5", "f800::/6", "fe00::/9",
	}
}

// ends returns the first and the last address of a range.
func ends(p netip.Prefix) (first, last netip.Addr) {
	b := p.Masked().Addr().AsSlice()
	for i := p.Bits(); i < 8*len(b); i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	last, _ = netip.AddrFromSlice(b)
	return p.Masked().Addr(), last
}

func at(ip netip.Addr) netip.AddrPort { return netip.AddrPortFrom(ip, 80) }

func TestHostile_N10_everyRowOfTheRegistriesIsRefused(t *testing.T) {
	g := New(nil, nil, nil)
	rng := rand.New(rand.NewPCG(1, 10))
	refuse := func(row string, ip netip.Addr) {
		t.Helper()
		if err := g.Check(at(ip)); !errors.Is(err, ErrBlockedAddress) {
			t.Errorf("%s: %v: %v", row, ip, err)
		}
		if ip.Is4() {
			mapped := netip.AddrFrom16(ip.As16())
			if err := g.Check(at(mapped)); !errors.Is(err, ErrBlockedAddress) {
				t.Errorf("%s: %v: %v", row, mapped, err)
			}
		}
	}
	for _, row := range registries() {
		p := netip.MustParsePrefix(row)
		first, last := ends(p)
		refuse(row, first)
		refuse(row, last)
		for range 100 {
			b := first.AsSlice()
			for i := p.Bits(); i < 8*len(b); i++ {
				b[i/8] |= byte(rng.IntN(2)) << (7 - i%8)
			}
			ip, _ := netip.AddrFromSlice(b)
			refuse(row, ip)
		}
	}
	if err := g.Check(netip.AddrPort{}); !errors.Is(err, ErrBlockedAddress) {
		t.Errorf("no address: %v", err)
	}
}

// specialForms lead to a special address, or are not public, in every form.
func specialForms() []string {
	return []string{
		"169.254.169.254", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1",
		"64:ff9b::7f00:1", "64:ff9b::a00:1", "64:ff9b::808:808", "64:ff9b:1::1", "64:ff9b:1::a00:1",
		"2001:0:7f00:1::1", "2001:0:808:808:0:0:80ff:fffe", "2002:7f00:1::1", "2002:808:808::1", "2002:ffff::1",
		"2606:4700::5efe:7f00:1", "2606:4700::200:5efe:c0a8:101", "2606:4700:0:0:200:5efe:a9fe:a9fe", "fe80::5efe:808:808",
		"fe80::1%eth0", "2606:4700::1%eth0", "fec0::1", "fd00:ec2::254",
	}
}

// These metadata services give credentials of the machine to every client. The guard once allowed 168.63.129.16, which
// looks public.
func TestTheMetadataServicesOfCloudsAreRefused(t *testing.T) {
	g := New(nil, nil, nil)
	// an address is judged by the address to which it leads
	lifted := New([]netip.Prefix{netip.MustParsePrefix("::/0")}, nil, nil)
	for cloud, addrs := range map[string][]string{
		"AWS": {"169.254.169.254", "169.254.169.253", "169.254.169.123", "169.254.170.2", "169.254.170.23",
			"fd00:ec2::254", "fd00:ec2::253", "fd00:ec2::23"},
		"Azure":     {"168.63.129.16", "169.254.169.254", "fe80::1234:5678:9abc"},
		"Google":    {"169.254.169.254", "fd20:ce::254"},
		"Alibaba":   {"100.100.100.200", "100.100.2.136", "100.100.2.138"},
		"Oracle":    {"192.0.0.192", "169.254.169.254", "fd00:c1::a9fe:a9fe"},
		"Tencent":   {"169.254.0.23", "169.254.0.55"},
		"OpenStack": {"169.254.169.254", "fe80::a9fe:a9fe"},
		"Scaleway":  {"169.254.42.42", "fd00:42::42"},
		"others":    {"169.254.169.254", "169.254.1.1", "10.0.2.2", "192.168.122.1"},
	} {
		for _, s := range addrs {
			ip := netip.MustParseAddr(s)
			forms := []netip.Addr{ip}
			if ip.Is4() {
				forms = append(forms, netip.AddrFrom16(ip.As16()))
				b := ip.As4()
				for _, form := range [][16]byte{
					{0, 0x64, 0xff, 0x9b, 12: b[0], b[1], b[2], b[3]},
					{0, 0x64, 0xff, 0x9b, 0, 1, 12: b[0], b[1], b[2], b[3]},
					{0x20, 0x02, b[0], b[1], b[2], b[3], 15: 1},
					{0x20, 0x01, 12: ^b[0], ^b[1], ^b[2], ^b[3]},
					{0x26, 0x06, 0x47, 10: 0x5e, 0xfe, b[0], b[1], b[2], b[3]},
					{8: 0xff, 0xff, 12: b[0], b[1], b[2], b[3]},
					{12: b[0], b[1], b[2], b[3]},
				} {
					disguised := netip.AddrFrom16(form)
					forms = append(forms, disguised)
					if err := lifted.Check(at(disguised)); !errors.Is(err, ErrBlockedAddress) {
						t.Errorf("%s: %v, as %v where IPv6 is allowed: %v", cloud, ip, disguised, err)
					}
				}
			}
			for _, form := range forms {
				if err := g.Check(at(form)); !errors.Is(err, ErrBlockedAddress) {
					t.Errorf("%s: %v, as %v: %v", cloud, ip, form, err)
				}
			}
		}
	}
}

// publicAddresses lie next to the special ones.
func publicAddresses() []string {
	return []string{
		"1.0.0.0", "8.8.8.8", "168.63.129.15", "168.63.129.17", "168.63.128.16", "9.255.255.255", "11.0.0.0",
		"100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
		"169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0",
		"192.31.195.255", "192.31.197.0", "192.52.192.255", "192.52.194.0", "192.175.47.255", "192.175.49.0",
		"192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
		"198.51.99.255", "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255", "::ffff:8.8.8.8",
		"2000::1", "2001:200::1", "2001:db7::1", "2001:db9::1", "2003::1", "2606:4700::1111", "3ffe::1", "3fff:1000::1",
		"2620:4f:7fff::1", "2620:4f:8001::1", "2606:4700::5efe:808:808", "2606:4700::300:5efe:7f00:1",
	}
}

func TestHostile_N10_noFormOfAnAddressGetsThrough(t *testing.T) {
	g := New(nil, nil, nil)
	for _, s := range specialForms() {
		if err := g.Check(at(netip.MustParseAddr(s))); !errors.Is(err, ErrBlockedAddress) {
			t.Errorf("%s: %v", s, err)
		}
	}
	for _, s := range publicAddresses() {
		if err := g.Check(at(netip.MustParseAddr(s))); err != nil {
			t.Error(err)
		}
	}
}

// Every spelling of an address in a URL is normalized before it is judged.
func TestHostile_U08_oddFormsAreNormalisedAndThenJudged(t *testing.T) {
	g := New(nil, nil, nil)
	for _, host := range []string{
		"127.0.0.1", "0x7f.1", "017700000001", "2130706433", "0x7f000001", "127.1", "127.0.1", "0177.0.0.1", "0",
		"0x0", "00", "127.0.0.1.",
		"0xa9fea9fe", "169.254.43518", "0xA.0XA.10.012", "%31%32%37.1", "１２７.１", "192。168。0。1", "4294967295", "0300.0250.1",
		"[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::10.0.0.1]",
		"[2002:7f00:1::]", "[FE80::1]",
		"[0:0:0:0:0:ffff:169.254.169.254]",
	} {
		normal, err := urlx.Normalize(nil, []byte("http://"+host+"/"))
		if err != nil {
			t.Errorf("%s: %v", host, err)
			continue
		}
		text := string(urlx.Host(normal))
		if text[0] == '[' {
			text = text[1 : len(text)-1]
		}
		ip, err := netip.ParseAddr(text)
		if err != nil {
			t.Errorf("%s becomes %s, which is a name", host, text)
			continue
		}
		if err := g.Check(at(ip)); !errors.Is(err, ErrBlockedAddress) {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{
		"0x100000000", "256.1.1.1", "1.2.3.4.5", "09.1", "[fe80::1%25eth0]", "[fe80::1%eth0]", "[::1",
		"[127.0.0.1]", "::1", "[::1]x", "1..2",
	} {
		if normal, err := urlx.Normalize(nil, []byte("http://"+host+"/")); err == nil {
			t.Errorf("%s becomes %s", host, normal)
		}
	}
}

func TestHostile_N12_portsAreThoseOfWebServersAndBadOnesAreNamedOrRefused(t *testing.T) {
	g := New([]netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, []int{7777, 6667, -1, 70000}, nil)
	for addr, want := range map[string]error{
		"8.8.8.8:80": nil, "8.8.8.8:443": nil, "8.8.8.8:8080": nil, "8.8.8.8:8443": nil, "8.8.8.8:7777": nil,
		"8.8.8.8:6667": nil,
		"8.8.8.8:22":   ErrBlockedPort, "8.8.8.8:25": ErrBlockedPort, "8.8.8.8:6379": ErrBlockedPort,
		"8.8.8.8:0":         ErrBlockedPort,
		"[2606:4700::1]:22": ErrBlockedPort, "192.0.2.1:6379": nil, "192.0.2.1:22": ErrBlockedPort,
		"192.0.2.1:0":     ErrBlockedPort,
		"192.0.2.1:10080": ErrBlockedPort, "192.0.2.1:6667": nil,
	} {
		if err := g.Check(netip.MustParseAddrPort(addr)); !errors.Is(err, want) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	bad := 0
	for port := range 1 << 16 {
		if badPort(uint16(port)) {
			bad++
			if slices.Contains(defaultPorts(), uint16(port)) {
				t.Errorf("port %d is usual and bad", port)
			}
		}
	}
	if bad != 83 {
		t.Errorf("%d bad ports, not the 83 of the standard", bad)
	}
}

func TestGuardAllows(t *testing.T) {
	g := New([]netip.Prefix{
		netip.MustParsePrefix(
			"127.0.0.0/8",
		), netip.MustParsePrefix("::ffff:10.1.0.0/112"), netip.MustParsePrefix("::/0"),
		netip.MustParsePrefix("240.0.0.0/4"),
	}, nil, nil).Deny(netip.MustParsePrefix("127.0.0.99/32"), netip.MustParsePrefix("8.8.4.4/32"))
	for addr, allowed := range map[string]bool{
		"127.0.0.1:99": true, "[::ffff:127.0.0.1]:99": true, "10.1.2.3:99": true, "10.2.2.3:80": false, "[::1]:99": true,
		"[64:ff9b::808:808]:80": true, "[64:ff9b::a00:1]:80": false, "[64:ff9b::7f00:1]:80": true,
		"[64:ff9b::808:404]:80": false,
		"240.0.0.1:80":          false, "[::ffff:240.0.0.1]:80": false, "127.0.0.99:80": false, "8.8.4.4:80": false,
		"8.8.8.8:80":           true,
		"[2002:a01:203::1]:80": true, "[2002:a02:203::1]:80": false, "[64:ff9b::f000:1]:80": false,
		"[2001:0:1::f5fe:fefe]:80": true,
	} {
		if err := g.Check(netip.MustParseAddrPort(addr)); (err == nil) != allowed {
			t.Errorf("%s: %v", addr, err)
		}
	}
}

// Addresses of this machine are refused, unless the operator allowed them by range; addresses on which this process
// listens are always refused.
func TestHostile_N10_ourOwnAddressesAndOurControlPortAreRefused(t *testing.T) {
	g, err := New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("8.8.4.0/24")},
		[]int{9000}, nil).Own()
	if err != nil {
		t.Fatal(err)
	}
	all, err := net.InterfaceAddrs()
	if err != nil || len(*g.own.list.Load()) != len(all) {
		t.Fatalf("%v, want %v, %v", *g.own.list.Load(), all, err)
	}
	g.own.list.Store(
		&[]netip.Addr{
			netip.MustParseAddr("8.8.8.8"),
			netip.MustParseAddr("8.8.4.4"),
			netip.MustParseAddr("2606:4700::1"),
		},
	)
	everywhere := g.Control(netip.MustParseAddrPort("0.0.0.0:9000"))
	here := g.Control(netip.MustParseAddrPort("127.0.0.1:9000"))
	for _, c := range []struct {
		guard   *Guard
		addr    string
		allowed bool
	}{
		{g, "8.8.8.8:80", false}, {g, "[::ffff:8.8.8.8]:80", false}, {g, "[2606:4700::1]:443", false},
		{g, "[2606:4700::5efe:808:808]:80", false},
		{g, "8.8.8.9:80", true}, {g, "8.8.4.4:80", true}, {g, "127.0.0.1:80", true}, {g, "127.0.0.1:9000", true},
		{everywhere, "127.0.0.1:9000", false}, {everywhere, "127.0.0.2:9000", false}, {everywhere, "8.8.4.4:9000", false},
		{everywhere, "8.8.4.5:9000", true}, {everywhere, "127.0.0.1:80", true},
		{here, "127.0.0.1:9000", false}, {here, "[::ffff:127.0.0.1]:9000", false}, {here, "127.0.0.1:80", true},
		{here, "8.8.4.4:9000", true},
	} {
		if err := c.guard.Check(netip.MustParseAddrPort(c.addr)); (err == nil) != c.allowed {
			t.Errorf("%s: %v", c.addr, err)
		}
	}
	g.own.nextLookup.Store(0)
	if err := g.Check(netip.MustParseAddrPort("8.8.8.8:80")); err != nil || len(*g.own.list.Load()) != len(all) {
		t.Errorf("the addresses of this machine are not looked up again: %v", err)
	}
}

// A port that the system chose is known only after the guard was made. All derived guards refuse it, also if loopback
// is allowed.
func TestAPortThatTheSystemPickedIsRefused(t *testing.T) {
	made := New([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, nil, nil)
	guard, err := made.Deny(netip.MustParsePrefix("127.0.0.9/32")).
		Control(netip.MustParseAddrPort("127.0.0.1:9000")).
		Own()
	if err != nil {
		t.Fatal(err)
	}
	picked, everywhere := netip.MustParseAddrPort("127.0.0.1:41234"), netip.MustParseAddrPort("[::]:41235")
	if err := guard.Check(picked); err != nil {
		t.Fatal(err)
	}
	guard.Listening(picked)
	guard.Listening(everywhere)
	for _, g := range []*Guard{made, guard} {
		for _, s := range []string{"127.0.0.1:41234", "[::ffff:127.0.0.1]:41234", "127.0.0.1:41235", "127.0.0.7:41235"} {
			if err := g.Check(netip.MustParseAddrPort(s)); !errors.Is(err, ErrBlockedAddress) {
				t.Errorf("%s: %v", s, err)
			}
		}
		if err := g.Check(netip.MustParseAddrPort("127.0.0.1:41236")); err != nil {
			t.Error(err)
		}
	}
	if err := guard.Through(picked); !errors.Is(err, ErrBlockedAddress) {
		t.Errorf("through a proxy: %v", err)
	}
}

// A proxy can be reached only as a proxy, and the proxy's guard allows nothing else.
func TestHostile_N10_aProxyIsReachedAsAProxyAndNothingElseIs(t *testing.T) {
	proxy := netip.MustParseAddrPort("127.0.0.1:3128")
	g := New(nil, nil, []netip.AddrPort{proxy})
	if err := g.Check(proxy); !errors.Is(err, ErrBlockedAddress) {
		t.Errorf("a page at the proxy's address: %v", err)
	}
	// Targets behind a proxy are judged as well: the proxy may stand in a network that links must not reach.
	for addr, allowed := range map[string]bool{
		"240.1.2.3:80": true, "240.1.2.3:25": false, "8.8.8.8:443": true, "127.0.0.1:80": false, "10.0.0.1:80": false,
		"127.0.0.1:3128": false,
	} {
		if err := g.Through(netip.MustParseAddrPort(addr)); (err == nil) != allowed {
			t.Errorf("through the proxy to %s: %v", addr, err)
		}
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
	g, err := New([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, nil, nil).Own()
	if err != nil {
		t.Fatal(err)
	}
	addr := netip.MustParseAddrPort("[2606:4700::1111]:443")
	if n := testing.AllocsPerRun(100, func() { _ = g.Check(addr) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkGuard(b *testing.B) {
	g, err := New(nil, nil, nil).Own()
	if err != nil {
		b.Fatal(err)
	}
	addr := netip.MustParseAddrPort("8.8.8.8:443")
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Check(addr); err != nil {
			b.Fatal(err)
		}
	}
}
