package filter

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"orbweaver/internal/textfile"
)

// Rules are the lines of a list, without comments and empty lines.
type Rules struct {
	Name  string   // of the file, or of the last one that was joined; "" for other sources
	Texts []string // the texts of the rules
	Lines []int    // their line numbers, from 1

	names []string // the file of each rule, if several were joined
}

// Join returns the rules of several files as one list, in this order.
func Join(files ...Rules) (all Rules) {
	if len(files) == 1 {
		return files[0]
	}
	for _, r := range files {
		all.Name = r.Name
		all.Texts, all.Lines = append(all.Texts, r.Texts...), append(all.Lines, r.Lines...)
		for range r.Texts {
			all.names = append(all.names, r.Name)
		}
	}
	return all
}

// faultsTold is the number of faults of one list that are reported.
const faultsTold = 20

// ReadRules reads a list with one rule in each line. Empty lines and text after # are ignored. It does not check the
// rules.
func ReadRules(name string, r io.Reader) (Rules, error) {
	rules := Rules{Name: name}
	var faults []error
	lines := textfile.Read(r, ruleMax)
	for len(faults) < faultsTold && lines.Scan() {
		if lines.IsCut() {
			faults = append(faults, fmt.Errorf("%s:%d: the line is longer than %d bytes", name, lines.Number(), ruleMax))
			continue
		}
		text, _, _ := strings.Cut(string(lines.Text()), "#")
		if text = unquoted(strings.TrimSpace(text)); text != "" {
			rules.Texts, rules.Lines = append(rules.Texts, text), append(rules.Lines, lines.Number())
		}
	}
	if err := lines.Err(); err != nil {
		faults = append(faults, fmt.Errorf("filter: reading rules: %s: %w", name, err))
	}
	return rules, errors.Join(faults...)
}

// ruleMax is the longest line of a list, in bytes.
const ruleMax = 64 << 10

// unquoted takes the quotes away that stand around a whole line, as a spreadsheet writes them.
func unquoted(text string) string {
	if n := len(text); n > 1 && (text[0] == '"' || text[0] == '\'') && strings.IndexByte(text[1:], text[0]) == n-2 {
		return strings.TrimSpace(text[1 : n-1])
	}
	return text
}

// Where returns the place of a rule, as in "hosts.txt:12".
func (r Rules) Where(i int) string {
	name := r.Name
	if i < len(r.names) {
		name = r.names[i]
	}
	switch {
	case i >= len(r.Lines):
		return "end of " + name
	case name == "":
		return fmt.Sprintf("line %d", r.Lines[i])
	default:
		return fmt.Sprintf("%s:%d", name, r.Lines[i])
	}
}

// Each calls f for every rule, and joins the errors, each with its place.
func (r Rules) Each(f func(i int, text string) error) error {
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
