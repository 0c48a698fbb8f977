package filter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Rules are the lines of a list, without comments and empty lines.
type Rules struct {
	Name  string   // of the file; "" for other sources
	Texts []string // the texts of the rules
	Lines []int    // their line numbers, from 1
}

// faultsTold is the number of faults of one list that are reported.
const faultsTold = 20

// ReadRules reads a list with one rule in each line. Empty lines and text after # are ignored. It does not check the
// rules.
func ReadRules(name string, r io.Reader) (Rules, error) {
	rules := Rules{Name: name}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if n == 1 {
			text = strings.TrimPrefix(text, "\uFEFF")
		}
		if text = strings.TrimSpace(text); text != "" {
			rules.Texts, rules.Lines = append(rules.Texts, text), append(rules.Lines, n)
		}
	}
	if err := lines.Err(); err != nil {
		return rules, fmt.Errorf("filter: reading rules: %s: %w", rules.Where(len(rules.Texts)), err)
	}
	return rules, nil
}

// Where returns the place of a rule, as in "hosts.txt:12".
func (r Rules) Where(i int) string {
	switch {
	case i >= len(r.Lines):
		return "end of " + r.Name
	case r.Name == "":
		return fmt.Sprintf("line %d", r.Lines[i])
	default:
		return fmt.Sprintf("%s:%d", r.Name, r.Lines[i])
	}
}

// each calls f for every rule, and joins the errors, each with its place.
func (r Rules) each(f func(i int, text string) error) error {
	var faults []error
	more := 0
	for i, text := range r.Texts {
		if err := f(i, text); err == nil {
			continue
		} else if len(faults) == faultsTold {
			more++
		} else {
			faults = append(faults, fmt.Errorf("%s: %w", r.Where(i), err))
		}
	}
	if more > 0 {
		faults = append(faults, fmt.Errorf("and %d lines more", more))
	}
	return errors.Join(faults...)
}
