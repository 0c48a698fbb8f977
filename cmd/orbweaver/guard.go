package main

import (
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"orbweaver/engine/fetch/addrguard"
)

// guard is the address policy of a crawl, and the ranges that are allowed by name.
func (c *crawlCmd) guard(upstream []netip.AddrPort) (*addrguard.Guard, []netip.Prefix, error) {
	var bad mistakes
	nets := ranges(&bad, "--allow-net", c.AllowNet)
	denied := ranges(&bad, "--deny-net", c.DenyNet)
	var ports []int
	for _, s := range c.AllowPort {
		n, err := strconv.ParseUint(s, 10, 16)
		bad.add("--allow-port", err)
		ports = append(ports, int(n))
	}
	if !bad.none() {
		return nil, nil, bad.err()
	}
	guard, err := addrguard.New(nets, ports, upstream).Deny(denied...).Control(controlAddrs(c.Listen)...).Own()
	return guard, nets, err
}

func ranges(bad *mistakes, flag string, texts []string) (nets []netip.Prefix) {
	for _, s := range texts {
		p, err := netip.ParsePrefix(s)
		bad.add(flag, err)
		nets = append(nets, p)
	}
	return nets
}

// controlAddrs are the addresses and ports that the crawl itself answers on, by what --listen says: none if that is a
// file. A name may mean any address of this machine. A port that the system picks is not known here: see refuseOwn.
func controlAddrs(listen string) []netip.AddrPort {
	if listen == "" || strings.HasPrefix(listen, "unix:") {
		return nil
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil // control.Listen will say so
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return nil
	}
	addr, err := netip.ParseAddr(host)
	if err != nil {
		addr = netip.IPv4Unspecified()
	}
	return []netip.AddrPort{netip.AddrPortFrom(addr, uint16(n))}
}

// refuseOwn has the address policy refuse what this process listens on by now, whatever is allowed: the port of
// --listen may be one that the system picked, and agents have ports, too. Addresses of another kind, such as a Unix
// socket, are left out.
func (c *crawlCmd) refuseOwn(addrs ...string) {
	for _, s := range addrs {
		if addr, err := netip.ParseAddrPort(s); err == nil && addr.Port() != 0 {
			c.policy.Listening(addr)
		}
	}
}

// warnOfProxy says what the address policy is worth behind a proxy.
func (c *crawlCmd) warnOfProxy(log *slog.Logger) {
	if c.Proxy != "" {
		log.Warn("--proxy: the address rules are advisory: the proxy looks names up and connects, so it must itself refuse private, loopback and metadata addresses")
	}
}
