package crawl

import (
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"orbweaver/dnsres"
	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/internal/cli/command"
)

// networkOptions are what a crawl may connect to. Its components are not exported fields, as those of the crawl.
type networkOptions struct {
	Proxy    string   `help:"Proxy that carries all requests: http://IP:PORT, or socks5://IP:PORT for which this machine resolves names. A user and a password in it (http://USER:PASSWORD@IP:PORT) are stored in crawl.toml, which only its owner can read. On the command line all users can see them: use ORBWEAVER_PROXY or --config. What the proxy itself answers, such as 407, is no answer of a site: the crawl says so and waits." placeholder:"URL" basic:""`
	Resolver []string `help:"Name servers: system (those of this machine, after its hosts file); IP:PORT, repeatable; or hashed[:N], made-up addresses for runs with a proxy. A local caching resolver makes large crawls faster." default:"system" placeholder:"R"`
	nameOptions
	Netrc       []string `help:"File with names and passwords of hosts for basic authentication, in the form of netrc: machine HOST login NAME password PASSWORD. A password goes to https://HOST, if its certificate is valid, and to seeds on HOST with their scheme and port; for other sites write machine http://HOST:PORT. The archive does not store them. Repeatable." placeholder:"FILE" sep:"none"`
	LoadCookies []string `help:"File of cookies to begin with, in Netscape's format, as browsers and wget write it. It needs --cookies site. As in browsers, a cookie goes to its host at any port, to hosts below it only if its line says so, and over plain http unless its line asks for https. Requests with them are stored in the archive. Repeatable." placeholder:"FILE" sep:"none"`
	AllowNet    []string `help:"Allow addresses and ports of this range, or of this one address, that are refused by default, such as private ones. Ports that the Fetch standard blocks need --allow-port too. Repeatable." placeholder:"CIDR" basic:""`
	DenyNet     []string `help:"Never connect to this range or address, even if it is allowed: for example, your public address behind a NAT. Addresses of this machine need not be named. Repeatable." placeholder:"CIDR"`
	AllowPort   []string `help:"Port that links may name besides the usual ones. Repeatable." placeholder:"PORT"`
}

// nameOptions are the settings of the name system; see componentOptions.
type nameOptions struct {
	DNS dnsres.Options `embed:""`
}

// guard is the address policy of a crawl, and the ranges that are allowed by name.
func (c *networkOptions) guard(listen string, upstream []netip.AddrPort) (*addrguard.Guard, []netip.Prefix, error) {
	var bad command.Faults
	nets := ranges(&bad, "--allow-net", c.AllowNet)
	denied := ranges(&bad, "--deny-net", c.DenyNet)
	var ports []int
	for _, s := range c.AllowPort {
		n, err := strconv.ParseUint(s, 10, 16)
		if err != nil || n == 0 {
			bad.Add("--allow-port", fmt.Errorf("%q is no port from 1 to 65535", s))
		}
		ports = append(ports, int(n))
	}
	if !bad.IsEmpty() {
		return nil, nil, bad.Err()
	}
	guard, err := addrguard.New(nets, ports, upstream).Deny(denied...).Control(controlAddrs(listen)...).Own()
	return guard, nets, err
}

func ranges(bad *command.Faults, flag string, texts []string) (nets []netip.Prefix) {
	for _, s := range texts {
		p, err := addrRange(s)
		bad.Add(flag, err)
		nets = append(nets, p)
	}
	return nets
}

// addrRange reads a range of addresses, or a single address.
func addrRange(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%q is neither an address nor a range such as 10.0.0.0/8", text)
	}
	return p, nil
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

// refuseOwn has the address policy refuse the addresses that this process listens on, whatever is allowed: the port of
// --listen may be one that the system picked, and agents have ports, too. Addresses of another kind, such as a Unix
// socket, are left out.
func refuseOwn(policy *addrguard.Guard, addrs ...string) {
	for _, s := range addrs {
		if addr, err := netip.ParseAddrPort(s); err == nil && addr.Port() != 0 {
			policy.Listening(addr)
		}
	}
}

// warnOfProxy says what the address policy is worth behind a proxy.
func (c *networkOptions) warnOfProxy(log *slog.Logger) {
	if c.Proxy != "" && !c.isSocks() {
		log.Warn("--proxy: the address rules are advisory: the proxy looks names up and connects, so it must itself " +
			"refuse private, loopback and metadata addresses")
	}
}
