package filter

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"

	"golang.org/x/net/publicsuffix"
)

// Seeds is what the scopes "host", "domain" and "prefix" remember of the seeds. The zero value is empty and ready. It
// is safe for concurrent use, so seeds may be added while a Scope that was compiled with it is in use.
type Seeds struct {
	hosts    stringSet
	domains  stringSet
	prefixes stringSet
	slashes  atomic.Int64 // most slashes in any prefix: no longer prefix of a URL needs looking up
	verdicts [4096]atomic.Pointer[domainVerdict]
}

// domainVerdict remembers whether a host's registrable domain starts at byte cut of its name.
type domainVerdict struct {
	host string
	cut  int
}

// Add notes a seed in normal form (borrowed). An error means that it is not such a URL.
func (s *Seeds) Add(url []byte) error { return s.AddAll([][]byte{url}) }

// AddAll notes many seeds at once, which is cheaper than one by one. On an error nothing is added.
func (s *Seeds) AddAll(urls [][]byte) error {
	var hosts, domains, prefixes []string
	most := int64(0)
	for _, url := range urls {
		p, ok := split(url)
		if !ok {
			return fmt.Errorf("filter: seed %q is not an http or https URL in normal form", clip(url))
		}
		hosts = append(hosts, string(p.host))
		domains = append(domains, string(registrable(p.host)))
		prefix := string(p.authority) + "/"
		if i := bytes.LastIndexByte(p.path, '/'); i >= 0 {
			prefix = string(p.authority) + string(p.path[:i+1])
		}
		prefixes = append(prefixes, prefix)
		most = max(most, int64(strings.Count(prefix, "/")))
	}
	for {
		old := s.slashes.Load()
		if most <= old || s.slashes.CompareAndSwap(old, most) {
			break
		}
	}
	s.hosts.add(hosts...)
	s.domains.add(domains...)
	s.prefixes.add(prefixes...)
	return nil
}

// Hosts gives the number of different hosts.
func (s *Seeds) Hosts() int { return s.hosts.len() }

func (s *Seeds) inHost(p parts) bool { return s.hosts.has(p.host) }

func (s *Seeds) inPrefix(p parts) bool {
	at := len(p.authority)
	for n := s.slashes.Load(); n > 0; n-- {
		i := bytes.IndexByte(p.tail[at:len(p.authority)+len(p.path)], '/')
		if i < 0 {
			return false
		}
		at += i + 1
		if s.prefixes.has(p.tail[:at]) {
			return true
		}
	}
	return false
}

func (s *Seeds) inDomain(p parts) bool {
	if isAddress(p.host) {
		return s.domains.has(p.host)
	}
	// The cheap question first: is any suffix of the host a seed's domain? Most hosts of the web end here, and only
	// the others need the public suffix list.
	for at := 0; ; {
		if s.domains.has(p.host[at:]) && s.cut(p.host) == at {
			return true
		}
		i := bytes.IndexByte(p.host[at:], '.')
		if i < 0 {
			return false
		}
		at += i + 1
	}
}

// cut gives the offset at which the registrable domain of host starts. The list's own look-up allocates, so answers
// are kept in a table of fixed size, by a hash of the host.
func (s *Seeds) cut(host []byte) int {
	h := uint32(2166136261)
	for _, c := range host {
		h = (h ^ uint32(c)) * 16777619
	}
	slot := &s.verdicts[(h^h>>16)%uint32(len(s.verdicts))]
	if v := slot.Load(); v != nil && v.host == string(host) {
		return v.cut
	}
	v := &domainVerdict{host: string(host), cut: len(host) - len(registrable(host))}
	slot.Store(v)
	return v.cut
}

// Domain gives the registrable domain of a host in normal form, borrowed from it, as registrable does.
func Domain(host []byte) []byte { return registrable(host) }

// registrable gives the registrable domain of a host in normal form: the label before the public suffix and all that
// follows. An address, and a name that is a public suffix itself, is its own domain.
func registrable(host []byte) []byte {
	name := string(host)
	if isAddress(host) {
		return host
	}
	dot := strings.TrimSuffix(name, ".")
	suffix, _ := publicsuffix.PublicSuffix(dot)
	if len(suffix) >= len(dot) {
		return host
	}
	return host[1+strings.LastIndexByte(dot[:len(dot)-len(suffix)-1], '.'):]
}

func clip(b []byte) []byte {
	if len(b) > 200 {
		return b[:200]
	}
	return b
}
