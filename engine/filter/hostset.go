package filter

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/net/idna"
)

// HostSet is a list of hosts to stay away from. It is read without locks, and may be added to while in use.
//
// A rule is one of
//
//	example.org        that host
//	.example.org       that host and all below it
//	*.example.org      all hosts below it, not itself
//	192.0.2.0/24       hosts written as an address in that block, and addresses asked for by ExcludesAddr
//	192.0.2.7          the same for one address; IPv6 with or without brackets
type HostSet struct {
	exact  stringSet
	suffix stringSet // without the leading dot; matches strictly below
	nets   atomic.Pointer[[]netip.Prefix]
	mu     sync.Mutex // writers of nets
	rules  atomic.Int64
}

// ErrRule is wrapped by every fault of a rule; the text names the line.
var ErrRule = errors.New("filter: bad host rule")

// ReadHostSet reads rules, one a line; empty lines and what follows a # are ignored. All faults are reported at once.
func ReadHostSet(r io.Reader) (*HostSet, error) {
	s := new(HostSet)
	var rules []rule
	var faults []error
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if n == 1 {
			text = strings.TrimPrefix(text, "\uFEFF")
		}
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		one, err := readRule(text)
		if err != nil {
			if len(faults) < 20 {
				faults = append(faults, fmt.Errorf("line %d: %w", n, err))
			}
			continue
		}
		rules = append(rules, one)
	}
	if err := lines.Err(); err != nil {
		faults = append(faults, fmt.Errorf("filter: reading host rules: %w", err))
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	s.take(rules)
	return s, nil
}

// Add adds one rule.
func (s *HostSet) Add(text string) error {
	one, err := readRule(strings.TrimSpace(text))
	if err != nil {
		return err
	}
	s.take([]rule{one})
	return nil
}

// Len gives the number of rules added, repetitions included.
func (s *HostSet) Len() int { return int(s.rules.Load()) }

// Excludes says whether a host in normal form (lower case, punycode, no port; borrowed) matches a rule. It does not
// allocate for names.
func (s *HostSet) Excludes(host []byte) bool {
	if s.rules.Load() == 0 {
		return false
	}
	if n := len(host); n > 0 && host[n-1] == '.' {
		host = host[:n-1]
	}
	if s.exact.has(host) {
		return true
	}
	if isAddress(host) {
		addr, err := netip.ParseAddr(string(bytes.Trim(host, "[]")))
		return err == nil && s.ExcludesAddr(addr)
	}
	for rest := host; ; {
		i := bytes.IndexByte(rest, '.')
		if i < 0 {
			return false
		}
		if rest = rest[i+1:]; s.suffix.has(rest) {
			return true
		}
	}
}

// ExcludesAddr says whether an address lies in one of the blocks.
func (s *HostSet) ExcludesAddr(addr netip.Addr) bool {
	nets := s.nets.Load()
	if nets == nil {
		return false
	}
	addr = addr.Unmap()
	for _, n := range *nets {
		if n.Contains(addr) {
			return true
		}
	}
	return false
}

func (s *HostSet) take(rules []rule) {
	var exact, suffix []string
	var nets []netip.Prefix
	for _, r := range rules {
		if r.net.IsValid() {
			nets = append(nets, r.net)
			continue
		}
		if r.self {
			exact = append(exact, r.name)
		}
		if r.below {
			suffix = append(suffix, r.name)
		}
	}
	s.exact.add(exact...)
	s.suffix.add(suffix...)
	if len(nets) > 0 {
		s.mu.Lock()
		if old := s.nets.Load(); old != nil {
			nets = append(append([]netip.Prefix(nil), *old...), nets...)
		}
		s.nets.Store(&nets)
		s.mu.Unlock()
	}
	s.rules.Add(int64(len(rules)))
}

type rule struct {
	name        string
	self, below bool
	net         netip.Prefix
}

func readRule(text string) (rule, error) {
	if net, err := netip.ParsePrefix(text); err == nil {
		return rule{net: net.Masked()}, nil
	}
	if addr, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil && addr.Zone() == "" {
		addr = addr.Unmap()
		return rule{net: netip.PrefixFrom(addr, addr.BitLen())}, nil
	}
	r := rule{self: true}
	name := text
	switch {
	case strings.HasPrefix(name, "*."):
		name, r.self, r.below = name[2:], false, true
	case strings.HasPrefix(name, "."):
		name, r.below = name[1:], true
	}
	name = strings.TrimSuffix(strings.ToLower(name), ".")
	if strings.IndexFunc(name, func(c rune) bool { return c >= 0x80 }) >= 0 {
		ascii, err := idna.Lookup.ToASCII(name)
		if err != nil {
			return rule{}, fmt.Errorf("%w: %q: %w", ErrRule, text, err)
		}
		name = ascii
	}
	if name == "" || len(name) > 253 || strings.ContainsAny(name, " \t/:*?[]@\\%") || strings.Contains(name, "..") {
		return rule{}, fmt.Errorf("%w: %q", ErrRule, text)
	}
	r.name = name
	return r, nil
}
