package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"orbweaver/engine/filter"
)

// readRules reads a file of host rules, and makes sure that each is one; no name means no rules.
func readRules(name string) ([]string, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var rules []string
	var faults []error
	set := new(filter.HostSet)
	in := bufio.NewScanner(f)
	for n := 1; in.Scan(); n++ {
		rule, _, _ := strings.Cut(in.Text(), "#")
		if rule = strings.TrimSpace(rule); rule == "" {
			continue
		}
		if err := set.Add(rule); err != nil {
			faults = append(faults, fmt.Errorf("%s:%d: %w", name, n, err))
			continue
		}
		rules = append(rules, rule)
	}
	return rules, errors.Join(append(faults, in.Err())...)
}
