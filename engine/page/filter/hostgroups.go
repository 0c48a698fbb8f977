package filter

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// noGroup is the name in a rule that takes a host out of the group of a wider rule.
const noGroup = "none"

// groupNameMax is the longest name of a group, in bytes.
const groupNameMax = 64

// readGroup reads the name of a group. It returns "" for the name none.
func readGroup(name string) (string, error) {
	valid := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c)
	}
	if name == "" || len(name) > groupNameMax || strings.ContainsFunc(name, func(c rune) bool { return !valid(c) }) {
		return "", fmt.Errorf("group %q: a name has letters, digits, and any of -_. (at most %d)", name, groupNameMax)
	}
	if name == noGroup {
		return "", nil
	}
	return name, nil
}

// readHostRules reads a rule, or the rules that a line for a group stands for.
func readHostRules(text string) ([]hostRule, error) {
	name, words, isGroup := cutGroup(text)
	if !isGroup {
		one, err := readHostRule(text)
		return []hostRule{one}, err
	}
	terms := "group=" + name
	if n := len(words) - 1; n >= 0 && strings.HasPrefix(words[n], "delay=") {
		terms += " group-" + words[n]
		words = words[:n]
	}
	var rules []hostRule
	var faults []error
	for _, host := range words {
		one, err := readHostRule(host + " " + terms)
		rules, faults = append(rules, one), append(faults, err)
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%w: %q: want group NAME: HOST... delay=TIME", ErrRule, text)
	}
	return rules, errors.Join(faults...)
}

// cutGroup returns the name of a line for a group, and the words after it.
func cutGroup(text string) (name string, words []string, isGroup bool) {
	name, rest, hasColon := strings.Cut(text, ":")
	name, hasPrefix := strings.CutPrefix(name, "group ")
	if !hasColon || !hasPrefix {
		return "", nil, false
	}
	return strings.TrimSpace(name), strings.Fields(rest), true
}

// HostsOf returns the hosts and ranges of addresses that a rule, or a line for a group, names.
func HostsOf(text string) (hosts []string) {
	_, words, isGroup := cutGroup(strings.TrimSpace(text))
	if !isGroup {
		words = strings.Fields(text)
		return words[:min(len(words), 1)]
	}
	for _, word := range words {
		if !strings.HasPrefix(word, "delay=") && !slices.Contains(hosts, word) {
			hosts = append(hosts, word)
		}
	}
	return hosts
}

// isGroupOnly reports whether a rule says nothing but a group. Such a rule may be for a range of addresses, because a
// site is asked for its group when its address is known.
func (r *hostRule) isGroupOnly() bool {
	only := [termKeys]bool{termGroup: true}
	return r.keys == only
}

// mayJoin reports whether a file may have both rules for the same hosts: a group beside other settings.
func (r *hostRule) mayJoin(other hostRule) bool {
	return r.keys[termGroup] != other.keys[termGroup] && (r.isGroupOnly() || other.isGroupOnly())
}

// place is the number of the first text that the rule is from.
func (r *hostRule) place() int {
	first := -1
	for key, has := range r.keys {
		if at := int(r.places[key]); has && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// AddGroups adds the groups of the rules to a table: the longest delay of each, by its name.
func (r *HostRules) AddGroups(delays map[string]time.Duration) {
	for _, one := range r.rules {
		if name := one.terms.Group; name != "" {
			delays[name] = max(delays[name], one.terms.GroupDelay)
		}
	}
}

// FindAddr is Find for an address to which a name resolves.
func (r *HostRules) FindAddr(addr netip.Addr, t *HostSettings) {
	addr = addr.Unmap().WithZone("")
	for _, length := range r.lengths {
		net, err := addr.Prefix(length)
		if number := r.blocks[net]; err == nil && number != nil {
			r.say(*number, int16(length+1), t)
		}
	}
}
