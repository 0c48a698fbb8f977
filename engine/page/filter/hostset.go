package filter

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/net/idna"
)

// HostSet is a list of hosts. It is read without locks, and may be extended while in use.
//
// A rule is one of
//
//	example.org        that host
//	.example.org       that host and all below it
//	*.example.org      all hosts below it, not itself
//	192.0.2.0/24       hosts written as an address in that block, and addresses in HasAddr
//	192.0.2.7          the same for one address; IPv6 with or without brackets
type HostSet struct {
	names  labelTrie // compiled names, marked with hostSelf and hostBelow; empty if there are none
	exact  stringSet // names added later
	suffix stringSet // the same for names below a host, without the leading dot
	blocks blockSet
	rules  atomic.Int64
}

const (
	hostSelf  = 1 << iota // a rule matches this name
	hostBelow             // a rule matches all names below it
)

// ErrRule is wrapped by every error about a host rule.
var ErrRule = errors.New("filter: bad host rule")

// CompileHosts returns a HostSet of rules. The error joins all faults, each with its place.
func CompileHosts(rules Rules) (*HostSet, error) {
	var list []rule
	err := rules.Each(func(_ int, text string) error {
		one, err := readRule(text)
		list = append(list, one)
		return err
	})
	if err != nil {
		return nil, err
	}
	s := &HostSet{names: newLabelTrie()}
	s.rules.Store(int64(len(list)))
	var blocks []netip.Prefix
	for _, r := range list {
		if r.net.IsValid() {
			blocks = append(blocks, r.net)
		} else {
			s.compile(r)
		}
	}
	if len(blocks) > 0 {
		s.blocks.add(blocks)
	}
	return s, nil
}

// compile adds a rule for a name to the trie.
func (s *HostSet) compile(r rule) {
	node, name := uint32(0), []byte(r.name)
	for dot := 0; dot >= 0; name = name[:max(dot, 0)] {
		dot = bytes.LastIndexByte(name, '.')
		node = s.names.grow(node, name[dot+1:])
	}
	mark := &s.names.nodes[node].mark
	if r.self {
		*mark |= hostSelf
	}
	if r.below {
		*mark |= hostBelow
	}
}

// compiled reports whether a name is in the trie.
func (s *HostSet) compiled(name []byte) bool {
	if len(s.names.nodes) < 2 {
		return false
	}
	for node := uint32(0); ; {
		dot := bytes.LastIndexByte(name, '.')
		if node = s.names.child(node, name[dot+1:]); node == 0 {
			return false
		}
		mark := s.names.nodes[node].mark
		if dot < 0 {
			return mark&hostSelf != 0
		}
		if mark&hostBelow != 0 {
			return true
		}
		name = name[:dot]
	}
}

// Add adds one rule.
func (s *HostSet) Add(text string) error {
	one, err := readRule(strings.TrimSpace(text))
	if err != nil {
		return err
	}
	if one.net.IsValid() {
		s.blocks.add([]netip.Prefix{one.net})
	}
	if one.self {
		s.exact.add(one.name)
	}
	if one.below {
		s.suffix.add(one.name)
	}
	s.rules.Add(1)
	return nil
}

// Len returns the number of rules, with repetitions.
func (s *HostSet) Len() int { return int(s.rules.Load()) }

// Has reports whether a host in normal form (lower case, Punycode, no port; borrowed) matches a rule. It does not
// allocate for names.
func (s *HostSet) Has(host []byte) bool {
	if s.rules.Load() == 0 {
		return false
	}
	host = withoutDot(host)
	if s.compiled(host) || s.exact.has(host) {
		return true
	}
	if isAddress(host) || bytes.IndexByte(host, ':') >= 0 {
		addr, err := netip.ParseAddr(string(bytes.Trim(host, "[]")))
		return err == nil && s.HasAddr(addr)
	}
	if s.suffix.empty() {
		return false
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

// HasAddr reports whether an address lies in one of the blocks.
func (s *HostSet) HasAddr(addr netip.Addr) bool { return s.blocks.has(addr.Unmap().WithZone("")) }

func withoutDot(host []byte) []byte {
	if n := len(host); n > 0 && host[n-1] == '.' {
		return host[:n-1]
	}
	return host
}

type rule struct {
	name        string
	self, below bool
	net         netip.Prefix
}

func readRule(text string) (rule, error) {
	if net, err := netip.ParsePrefix(text); err == nil {
		if inner := net.Bits() - 96; net.Addr().Is4In6() &&
			inner >= 0 { // a host is matched by its embedded IPv4 address
			net = netip.PrefixFrom(net.Addr().Unmap(), inner)
		}
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
	switch {
	case strings.ContainsFunc(name, func(c rune) bool { return !isHostChar(c) }):
		return rule{}, fmt.Errorf("%w: %q: a name is made of letters, digits, hyphens and dots; write one on each line, "+
			"and # before a comment", ErrRule, text)
	case name == "" || len(name) > 253 || strings.Contains(name, ".."):
		return rule{}, fmt.Errorf("%w: %q", ErrRule, text)
	}
	r.name = name
	return r, nil
}

// isHostChar reports whether a character may be part of a name in Punycode.
func isHostChar(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.'
}

// matches is HostSet.Has for one rule.
func (r rule) matches(host []byte) bool {
	if r.net.IsValid() {
		addr, err := netip.ParseAddr(string(bytes.Trim(host, "[]")))
		return err == nil && r.net.Contains(addr.Unmap().WithZone(""))
	}
	name, below := bytes.CutSuffix(withoutDot(host), []byte(r.name))
	switch {
	case !below:
		return false
	case len(name) == 0:
		return r.self
	default:
		return r.below && name[len(name)-1] == '.'
	}
}

// FindHost returns the first rule that matches a host in normal form, or -1. It tries them one by one: it is for
// explanations, HostSet.Has for decisions.
func (r Rules) FindHost(host []byte) int {
	return slices.IndexFunc(r.Texts, func(text string) bool {
		one, err := readRule(text)
		return err == nil && one.matches(host)
	})
}
