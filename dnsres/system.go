package dnsres

import (
	"fmt"
	"io"
	"net/netip"
	"os"
	"strings"
)

// SystemUpstreams gives the name servers of /etc/resolv.conf; without one, or without the file, the one on this
// machine, as the resolver of the C library does.
func SystemUpstreams() ([]netip.AddrPort, error) {
	file, err := os.Open("/etc/resolv.conf")
	if os.IsNotExist(err) {
		return readResolvConf(strings.NewReader(""))
	}
	if err != nil {
		return nil, fmt.Errorf("dnsres: %w", err)
	}
	defer file.Close() //nolint:errcheck // only read
	return readResolvConf(file)
}

func readResolvConf(r io.Reader) ([]netip.AddrPort, error) {
	text, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("dnsres: reading resolv.conf: %w", err)
	}
	var ups []netip.AddrPort
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "nameserver" {
			continue
		}
		if addr, err := netip.ParseAddr(fields[1]); err == nil {
			ups = append(ups, netip.AddrPortFrom(addr, 53))
		}
	}
	if len(ups) == 0 {
		ups = append(ups, netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 53))
	}
	return ups, nil
}
