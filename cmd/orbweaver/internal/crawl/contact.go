package crawl

import (
	"errors"
	"fmt"
	"net/mail"
	"net/netip"
	"net/url"
	"strings"

	"orbweaver/dnsres"
	"orbweaver/engine/frontier/admission"
	"orbweaver/internal/urlx"
)

// CheckContact refuses what is neither a URL nor a mail address: site owners could not use it.
func CheckContact(contact string) error {
	if contact == "" {
		return nil
	}
	if u, err := url.Parse(contact); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" {
		return nil
	}
	address := strings.TrimPrefix(contact, "mailto:")
	if a, err := mail.ParseAddress(address); err == nil && a.Address == address && a.Name == "" {
		return nil
	}
	return fmt.Errorf("--contact: %q is neither a URL such as https://example.org/crawl nor a mail address such as "+
		"crawl@example.org", contact)
}

// errPublic says that a crawl of hosts of other operators needs a contact.
var errPublic = errors.New(
	"--contact: a public crawl must say where site owners reach you: give a URL or an e-mail address",
)

// contactNeeded refuses a public crawl without the address of its operator. nets are the ranges of --allow-net, and
// hosts returns the addresses that the hosts file has for a name.
func contactNeeded(
	contact string, nets []netip.Prefix, seeds admission.SeedSource, hosts func(name string) []netip.Addr,
) error {
	if contact != "" {
		return nil
	}
	if len(nets) == 0 {
		return fmt.Errorf("%w (not needed with --proxy, or if --allow-net covers the addresses of all seeds)", errPublic)
	}
	if seeds == nil {
		return nil // a resumed crawl: its seeds were looked at when it began
	}
	return seeds.Each(func(_ string, raw []byte) error {
		u, err := urlx.Normalize(nil, admission.CompleteSeed(raw))
		if err != nil {
			return nil //nolint:nilerr // told elsewhere
		}
		return seedCovered(string(urlx.Host(u)), nets, hosts)
	})
}

// seedCovered returns nil if the host of a seed can only be at an address within the ranges.
func seedCovered(host string, nets []netip.Prefix, hosts func(name string) []netip.Addr) error {
	addrs := hosts(host)
	if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		addrs = []netip.Addr{addr}
	}
	switch {
	case host == "localhost":
		addrs = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}
	case strings.HasSuffix(host, ".test"), strings.HasSuffix(host, ".localhost"), strings.HasSuffix(host, ".internal"):
		return nil // names that exist in no public zone
	case len(addrs) == 0:
		return fmt.Errorf(
			"%w (--allow-net covers addresses, and the name %.100q of a seed may have any: put it into the hosts file, or "+
				"give its address as the seed)", errPublic, host,
		)
	}
	for _, addr := range addrs {
		if !covers(nets, addr) {
			return fmt.Errorf("%w (--allow-net does not cover %v, the address of a seed)", errPublic, addr)
		}
	}
	return nil
}

func covers(nets []netip.Prefix, addr netip.Addr) bool {
	for _, n := range nets {
		if n.Contains(addr) {
			return true
		}
	}
	return false
}

// hostsFile returns the addresses that the crawl's resolver takes from the hosts file.
func (c *networkOptions) hostsFile() func(name string) []netip.Addr {
	for _, r := range c.Resolver {
		if r == "system" {
			return func(name string) []netip.Addr { return dnsres.LookupHosts(dnsres.SystemHosts(), name) }
		}
	}
	return func(string) []netip.Addr { return nil }
}
