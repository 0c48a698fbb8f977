package dnsres

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"

	"github.com/miekg/dns"
)

// SystemUpstreams returns the name servers of /etc/resolv.conf. If the file or a server in it is missing, it returns
// the server on this machine, as the resolver of the C library does.
func SystemUpstreams() ([]netip.AddrPort, error) { return upstreamsOf("/etc/resolv.conf") }

// upstreamsOf reads the file itself, since dns.ClientConfigFromFile does not report an error of a read.
func upstreamsOf(name string) ([]netip.AddrPort, error) {
	text, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("dnsres: %w", err)
	}
	conf, err := dns.ClientConfigFromReader(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("dnsres: %s: %w", name, err)
	}
	var ups []netip.AddrPort
	for _, server := range conf.Servers {
		if addr, err := netip.ParseAddr(server); err == nil {
			ups = append(ups, netip.AddrPortFrom(addr, 53))
		}
	}
	if len(ups) == 0 {
		ups = append(ups, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 53))
	}
	return ups, nil
}
