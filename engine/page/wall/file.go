package wall

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"orbweaver/engine/page/filter"
)

// ErrRule is wrapped by every error about a rule of a file.
var ErrRule = errors.New("wall: bad rule")

// keys names what a rule of a file may say.
const keys = `status=N,N header="NAME: TEXT" title="TEXT" body="TEXT"`

// Compile returns the rules of a file and those of BuiltIn. Those of the file are asked first. A rule is the name of a
// service, and then what its wall has:
//
//	status=403,429       one of these statuses
//	header="NAME: TEXT"  a header field whose value contains TEXT, in any case; no TEXT means any value
//	title="TEXT"         a title of HTML that begins with TEXT, in any case
//	body="TEXT"          a body that contains TEXT
//
// All conditions of a rule must hold. It has a status or a header, and not a status alone. The error joins all faults,
// each with its place.
func Compile(from filter.Rules) (*Table, error) {
	var rules []rule
	err := from.Each(func(i int, text string) error {
		r, err := readRule(text)
		r.place = from.Where(i)
		if err != nil {
			return fmt.Errorf("%w: %.200q: %w", ErrRule, text, err)
		}
		rules = append(rules, r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return newTable(append(rules, builtIn()...)), nil
}

func readRule(text string) (r rule, err error) {
	words, err := filter.SplitTerms(text)
	if err != nil {
		return r, fmt.Errorf("%w; # begins a comment, write it as \\x23 in a text", err)
	}
	if r.service = words[0]; !isName(r.service) {
		return r, errors.New("begin with the name of the service: letters, digits and hyphens, at most 40")
	}
	seen := map[string]bool{}
	for _, word := range words[1:] {
		key, value, _ := strings.Cut(word, "=")
		if seen[key] {
			return r, fmt.Errorf("%s stands there twice: write a second rule", key)
		}
		seen[key] = true
		if err := r.set(key, value); err != nil {
			return r, err
		}
	}
	switch isSign := r.marker != "" || r.titles != nil; {
	case r.field == "" && r.statuses == nil && isSign:
		return r, errors.New("add status= or header=: the body of each page would be searched without one")
	case r.field == "" && !isSign:
		return r, errors.New("add header=, title= or body=: a status alone is no wall")
	}
	return r, nil
}

// isName reports whether a text may be a service: it stands in crawl.log and in a header field.
func isName(text string) bool {
	return text != "" && len(text) <= 40 && !strings.ContainsFunc(text, func(c rune) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
}

// set sets a condition.
func (r *rule) set(key, value string) error {
	if key == "status" {
		return r.setStatuses(value)
	}
	if !slices.Contains([]string{"header", "title", "body"}, key) {
		return fmt.Errorf("%.60q is no condition: there are %s", key, keys)
	}
	text := value
	if strings.HasPrefix(value, `"`) {
		var err error
		if text, err = strconv.Unquote(value); err != nil {
			return fmt.Errorf("%s: %.60s is no text in double quotes", key, value)
		}
	}
	if text == "" || len(text) > textMost {
		return fmt.Errorf("%s: give a text of 1 to %d bytes: %s", key, textMost, keys)
	}
	switch key {
	case "title":
		r.titles = []string{lower(text)}
	case "body":
		r.marker = text
	default:
		name, part, _ := strings.Cut(text, ":")
		if name = strings.TrimSpace(name); name == "" || strings.ContainsAny(name, " \t") {
			return fmt.Errorf("header: %.60q names no field: write header=\"NAME: TEXT\"", text)
		}
		r.field, r.value = lower(name), lower(strings.TrimSpace(part))
	}
	return nil
}

// textMost is the longest text of a condition, in bytes.
const textMost = valueMax

func (r *rule) setStatuses(list string) error {
	for text := range strings.SplitSeq(list, ",") {
		status, err := strconv.Atoi(text)
		if err != nil || status < 200 || status > statusMost {
			return fmt.Errorf("status: %.60q is no list of numbers from 200 to %d, such as status=403,429", list, statusMost)
		}
		r.statuses = append(r.statuses, status)
	}
	return nil
}

// lower is text with letters of ASCII in lower case, as hasPrefix compares them.
func lower(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'A' && c <= 'Z' {
			return c | 0x20
		}
		return c
	}, text)
}
