package crawl

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/engine/net/fetch/socks"
	"orbweaver/internal/cli/command"
)

// errNoSystem says that this machine has no name servers.
var errNoSystem = errors.New("system")

// resolver makes the name system.
func (c *networkOptions) resolver(seams *engine.Seams) error {
	var upstreams []netip.AddrPort
	var bad command.Faults
	o := c.DNS
	if o.TTLMax < o.TTLMin {
		bad.Add("", fmt.Errorf("--dns-ttl-max %v is less than --dns-ttl-min %v", o.TTLMax, o.TTLMin))
	}
	for _, r := range c.Resolver {
		if n, ok := strings.CutPrefix(r, "hashed"); ok {
			return c.hashed(seams, strings.TrimPrefix(n, ":"), len(c.Resolver))
		}
		if r == "system" {
			found, err := dnsres.SystemUpstreams()
			if err != nil {
				return fmt.Errorf("--resolver: %w: %w; name a server as IP:PORT", errNoSystem, err)
			}
			upstreams = append(upstreams, found...)
			o.HostsFile = dnsres.SystemHosts()
			continue
		}
		a, err := netip.ParseAddrPort(r)
		if host, noPort := netip.ParseAddr(r); noPort == nil {
			a, err = netip.AddrPortFrom(host, 53), nil
		}
		if err != nil {
			bad.Add("--resolver", fmt.Errorf("%q is none of system, IP:PORT, hashed[:N]", r))
		}
		upstreams = append(upstreams, a)
	}
	if !bad.IsEmpty() {
		return bad.Err()
	}
	dialer := fetch.NetDialer(addrguard.New(nil, nil, upstreams).Upstream())
	o.Upstreams, o.IPv6 = upstreams, true
	o.NegativeTTL = max(dnsres.Options{}.WithDefaults().NegativeTTL, o.TTLMin)
	r, err := dnsres.New(o, dnsres.NetExchanger{Dial: dialer.DialContext})
	if err != nil {
		return fmt.Errorf("--resolver: %w", err)
	}
	seams.Resolver = r
	return nil
}

func (c *networkOptions) hashed(seams *engine.Seams, n string, resolvers int) error {
	if c.Proxy == "" || c.isSocks() || resolvers > 1 {
		return errors.New("--resolver: hashed makes addresses up, so it needs an HTTP --proxy and no other resolver " +
			"beside it")
	}
	h := dnsres.Hashed{}
	if n != "" {
		v, err := strconv.ParseUint(n, 10, 32)
		if err != nil || v == 0 || v > 1<<28 {
			return fmt.Errorf("--resolver: hashed:%s: N is between 1 and %d", n, 1<<28)
		}
		h.N = uint32(v)
	}
	seams.Resolver = h
	return nil
}

// socksScheme begins the URL of a SOCKS5 proxy.
const socksScheme = "socks5"

func (c *networkOptions) isSocks() bool { return strings.HasPrefix(c.Proxy, socksScheme+"://") }

// socksDialer returns what reaches servers through the SOCKS5 proxy.
func (c *networkOptions) socksDialer(proxy netip.AddrPort, check func(netip.AddrPort) error) (fetch.Dialer, error) {
	u, err := url.Parse(c.Proxy)
	if err != nil {
		return nil, err
	}
	d := &socks.Dialer{
		Addr: proxy, Check: check,
		Inner: fetch.NetDialer(addrguard.New(nil, nil, []netip.AddrPort{proxy}).Upstream()),
	}
	if u.User != nil {
		d.Name = u.User.Username()
		d.Password, _ = u.User.Password()
	}
	if len(d.Name) > socks.TextMax || len(d.Password) > socks.TextMax {
		return nil, fmt.Errorf("name and password have at most %d bytes", socks.TextMax)
	}
	return d, nil
}

func proxyAddr(raw string) (netip.AddrPort, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "http" && u.Scheme != socksScheme || u.Hostname() == "" {
		return netip.AddrPort{}, fmt.Errorf(
			"%q is no proxy such as http://127.0.0.1:8080 or socks5://127.0.0.1:1080", withoutUser(raw),
		)
	}
	host, port := u.Hostname(), u.Port()
	if host == "localhost" {
		host = "127.0.0.1"
	}
	if port == "" {
		port = "80"
		if u.Scheme == socksScheme {
			port = "1080"
		}
	}
	a, err := netip.ParseAddrPort(host + ":" + port)
	if strings.Contains(host, ":") {
		a, err = netip.ParseAddrPort("[" + host + "]:" + port)
	}
	if err != nil {
		return a, fmt.Errorf("%q: give the proxy's address, not its name", withoutUser(raw))
	}
	return a, nil
}
