package order

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"orbweaver/engine/page/filter"
	"orbweaver/internal/textfile"
	"orbweaver/internal/urlx"
)

// Budgets are weights of registrable domains from outside, for ModeRanked. They are in units of 1 / weightUnit.
type Budgets map[string]uint32

// ErrBudget is wrapped by every error about a line of a file of budgets.
var ErrBudget = errors.New("bad budget")

var errManyBudgets = fmt.Errorf("%w: a file has at most %d domains: leave those with the largest weights", ErrBudget,
	BudgetsMost)

const (
	// BudgetsMost is the largest number of domains in a file: as many as the order has queues for.
	BudgetsMost = tableSize

	// BudgetMost is the largest weight.
	BudgetMost = 1e6

	budgetLeast      = 0.001
	budgetLineMost   = 1 << 10 // bytes
	budgetFaultsTold = 20
)

// ReadBudgets reads a file of budgets. Each line is a registrable domain and its weight; "#" begins a comment. The
// error joins the first faults, each with its place. Reading ends above BudgetsMost.
func ReadBudgets(name string, in io.Reader) (Budgets, error) {
	b := Budgets{}
	var faults []error
	for lines := textfile.Read(in, budgetLineMost); ; {
		if !lines.Scan() {
			if err := lines.Err(); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", name, err))
			}
			break
		}
		text, _, _ := strings.Cut(string(lines.Text()), "#")
		err := b.add(text)
		if lines.IsCut() {
			err = fmt.Errorf("%w: the line is longer than %d bytes", ErrBudget, budgetLineMost)
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("%s:%d: %w", name, lines.Number(), err))
		}
		if len(faults) == budgetFaultsTold || errors.Is(err, errManyBudgets) {
			break
		}
	}
	if len(b)+len(faults) == 0 {
		faults = append(faults, fmt.Errorf("%s: %w: no line has a domain and its weight", name, ErrBudget))
	}
	return b, errors.Join(faults...)
}

// add adds the domain of a line.
func (b Budgets) add(line string) error {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	if len(words) != 2 {
		return fmt.Errorf("%w: %.200q: write a domain, a tab and its weight, such as example.org\t12.5", ErrBudget, line)
	}
	host, err := hostOf(words[0])
	if err != nil {
		return err
	}
	if domain := filter.Domain(host); !bytes.Equal(domain, host) {
		return fmt.Errorf("%w: %.200q is a host of the domain %s: write that", ErrBudget, words[0], domain)
	}
	if filter.IsTopLevel(host) {
		return fmt.Errorf("%w: %.200q is no domain, but what domains end in: write each of them", ErrBudget, words[0])
	}
	weight, err := strconv.ParseFloat(words[1], 64)
	isDecimal := err == nil && !strings.ContainsAny(words[1], "_xX")
	if !isDecimal || !(weight >= budgetLeast && weight <= BudgetMost) { // NaN is in no range
		return fmt.Errorf("%w: %.200q: write a weight from %g to %.0f", ErrBudget, words[1], budgetLeast, BudgetMost)
	}
	if _, isThere := b[string(host)]; isThere {
		return fmt.Errorf("%w: %.200q is there already: leave one of the lines", ErrBudget, words[0])
	}
	if len(b) == BudgetsMost {
		return errManyBudgets
	}
	b[string(host)] = uint32(weight * weightUnit)
	return nil
}

// hostOf returns the normal form of the name of a host.
func hostOf(name string) ([]byte, error) {
	url, err := urlx.Normalize(nil, []byte("http://"+name+"/"))
	if err != nil || strings.ContainsAny(name, `/\@?#`) {
		return nil, fmt.Errorf("%w: %.200q is not a domain, such as example.org", ErrBudget, name)
	}
	return urlx.Host(url), nil
}
