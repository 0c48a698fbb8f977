package dnsres

import (
	"bufio"
	"bytes"
	"io"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"
)

// SystemHosts is the path of the hosts file of this machine.
func SystemHosts() string {
	if runtime.GOOS == "windows" {
		return `C:\Windows\System32\drivers\etc\hosts`
	}
	return "/etc/hosts"
}

const (
	hostsLook = time.Second // time between two looks whether the file has changed
	hostsMax  = 64 << 20    // bytes that are read of a hosts file; lists of refused names have many lines
)

// hostsFile is a hosts file: its names have addresses without a question. It is read again when it has changed. A file
// that is missing or that cannot be read has no names.
type hostsFile struct {
	path string

	mu      sync.Mutex
	look    time.Time // no look before this time
	changed time.Time // modification time of what was read
	size    int64
	names   map[string][]netip.Addr
}

// lookup returns the addresses of a name, IPv4 first. The caller must not change them.
func (h *hostsFile) lookup(name string, now time.Time) []netip.Addr {
	if h.path == "" {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !now.Before(h.look) {
		h.look = now.Add(hostsLook)
		h.reload()
	}
	return h.names[name]
}

// reload reads the file if it has changed.
func (h *hostsFile) reload() {
	info, err := os.Stat(h.path)
	if err != nil || !info.Mode().IsRegular() { // a named pipe would hold every look-up
		h.names, h.size = nil, -1
		return
	}
	if h.names != nil && info.ModTime().Equal(h.changed) && info.Size() == h.size {
		return
	}
	f, err := os.Open(h.path)
	if err != nil {
		h.names, h.size = nil, -1
		return
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, hostsMax))
	if err != nil {
		h.names, h.size = nil, -1
		return
	}
	h.names, h.changed, h.size = readHosts(text), info.ModTime(), info.Size()
}

// readHosts reads the lines of a hosts file: an address, then names. It leaves out what it cannot read.
func readHosts(text []byte) map[string][]netip.Addr {
	names := make(map[string][]netip.Addr)
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line, _, _ := bytes.Cut(lines.Bytes(), []byte("#"))
		fields := bytes.Fields(line)
		if len(fields) < 2 {
			continue
		}
		addr, err := netip.ParseAddr(string(fields[0]))
		if err != nil || addr.Zone() != "" {
			continue
		}
		addr = addr.Unmap()
		for _, field := range fields[1:] {
			name, err := cleanName(string(field))
			if err == nil && !slices.Contains(names[name], addr) {
				names[name] = append(names[name], addr)
			}
		}
	}
	for name, addrs := range names {
		slices.SortStableFunc(addrs, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
		names[name] = addrs
	}
	return names
}

// LookupHosts returns the addresses that a hosts file has for a name now.
func LookupHosts(path, name string) []netip.Addr {
	h := hostsFile{path: path}
	return h.lookup(name, time.Now())
}

// answer answers from the hosts file; false if it does not know the name.
func (h *hostsFile) answer(name string, o *Options) (Answer, bool) {
	now := time.Now()
	addrs := h.lookup(name, now)
	if !o.IPv6 {
		if six := slices.IndexFunc(addrs, netip.Addr.Is6); six >= 0 { // they are behind those of IPv4
			addrs = addrs[:six]
		}
	}
	if len(addrs) == 0 {
		return Answer{}, false
	}
	return Answer{Addrs: addrs[:min(len(addrs), o.AddrsMax)], Expires: now.Add(o.TTLMin)}, true
}
