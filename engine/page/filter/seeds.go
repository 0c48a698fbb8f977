package filter

import (
	"bytes"
	"fmt"
	"strings"
	"sync/atomic"

	"golang.org/x/net/publicsuffix"
)

// Seeds is what the scopes "host", "domain" and "prefix" know of the seeds. The zero value is empty and ready. It is
// safe for concurrent use, also while a Scope uses it.
type Seeds struct {
	hosts    stringSet
	domains  stringSet
	prefixes stringSet
	slashes  atomic.Int64 // most slashes in any prefix: longer prefixes of a URL need no lookup
	verdicts [4096]atomic.Pointer[domainVerdict]
	watch    func(url []byte) // called with each seed; nil for none
}

// domainVerdict caches the offset of a host's registrable domain.
type domainVerdict struct {
	host string
	cut  int
}

// Watch lets f, which must be safe for concurrent use, see each seed. It is called before any seed is added.
func (s *Seeds) Watch(f func(url []byte)) { s.watch = f }

// Add adds a seed in normal form (borrowed). The error says that it is none.
func (s *Seeds) Add(url []byte) error { return s.AddAll([][]byte{url}) }

// AddAll adds many seeds at once, which is cheaper. On an error nothing is added.
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
	if s.watch != nil {
		for _, url := range urls {
			s.watch(url)
		}
	}
	s.hosts.add(hosts...)
	s.domains.add(domains...)
	s.prefixes.add(prefixes...)
	return nil
}

// Has reports whether another seed with the host and the prefix of a URL in normal form was added. It borrows url.
func (s *Seeds) Has(url []byte) bool {
	p, ok := split(url)
	if !ok {
		return false
	}
	prefix := string(p.authority) + "/"
	if i := bytes.LastIndexByte(p.path, '/'); i >= 0 {
		prefix = string(p.authority) + string(p.path[:i+1])
	}
	return s.hosts.has(p.host) && s.prefixes.has([]byte(prefix))
}

// Hosts returns the number of different hosts.
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
	// The cheap check first: is any suffix of the host the domain of a seed? For most hosts the answer is no, and the
	// public suffix list is not needed.
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

// cut returns the offset of the registrable domain of host. The public suffix list's own lookup allocates, so results
// are cached in a table of fixed size, by a hash of the host.
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

// Domain returns the registrable domain of a host in normal form, like registrable. It borrows host.
func Domain(host []byte) []byte { return registrable(host) }

// registrable returns the registrable domain of a host in normal form: the public suffix and the label before it. An
// address, or a name that is a public suffix, is its own domain.
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

// IsTopLevel reports whether a name of a host (borrowed) is a top-level domain, such as com. No page has it as its
// domain. Of other public suffixes, such as gov.uk, some are hosts with pages.
func IsTopLevel(host []byte) bool {
	_, isListed := publicsuffix.PublicSuffix(string(host))
	return isListed && bytes.IndexByte(host, '.') < 0
}

func clip(b []byte) []byte {
	if len(b) > 200 {
		return b[:200]
	}
	return b
}
