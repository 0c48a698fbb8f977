package filter

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
)

// Stat is a number of the user for each answer to a page: --stat. It is safe for concurrent use.
type Stat struct {
	Name string
	predicate[statFacts]
}

type statFacts struct {
	storeFacts
	Outcome string  `expr:"outcome"`
	Stored  bool    `expr:"stored"`
	Seconds float64 `expr:"seconds"`
}

// The bounds of --stat.
const (
	StatsMost   = 64 // numbers of a crawl
	statNameMax = 64 // bytes of a name
)

// CompileStats compiles expressions of the form NAME=EXPR. It keeps seeds, which may be nil if there are none. hasVia
// says that the crawl keeps which page linked to a URL. The error joins all faults.
func CompileStats(texts []string, seeds *Seeds, hasVia bool) (list []*Stat, err error) {
	if len(texts) > StatsMost {
		return nil, fmt.Errorf("%w: %d of them, at most %d", ErrExpression, len(texts), StatsMost)
	}
	var faults []error
	known := make(map[string]bool)
	for _, text := range texts {
		s, err := compileStat(text, seeds, hasVia)
		if err == nil && known[s.Name] {
			err = fmt.Errorf("%w: %s is given twice", ErrExpression, s.Name)
		}
		if err != nil {
			faults = append(faults, err)
			continue
		}
		known[s.Name] = true
		list = append(list, s)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return list, nil
}

func compileStat(text string, seeds *Seeds, hasVia bool) (*Stat, error) {
	name, expression, ok := strings.Cut(text, "=")
	s := &Stat{Name: strings.TrimSpace(name)}
	if !ok || !isStatName(s.Name) {
		return nil, fmt.Errorf("%w: %q is not NAME=EXPR, with a NAME of a-z, 0-9 and _", ErrExpression, text)
	}
	err := s.compileNumber(expression, seeds)
	if err == nil && s.AsksVia() && !hasVia {
		err = ErrViaUnknown
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Name, err)
	}
	return s, nil
}

// isStatName reports whether a name can be that of a metric and of a key in a report.
func isStatName(name string) bool {
	rest := strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz0123456789_")
	return rest == "" && name != "" && len(name) <= statNameMax && (name[0] < '0' || name[0] > '9')
}

// compileNumber compiles an expression that yields a number.
func (p *predicate[F]) compileNumber(text string, seeds *Seeds) error {
	if seeds == nil {
		seeds = new(Seeds)
	}
	p.text, p.seeds = text, seeds
	if err := p.compileExpression(text, expr.AsAny()); err != nil {
		return err
	}
	if !yieldsNumber(p.program.Node()) {
		p.program = nil
		return fmt.Errorf("%w: %s does not always yield a number, or true or false for 1 and 0", ErrExpression, text)
	}
	return nil
}

// yieldsNumber reports whether an expression yields a number or a bool. The compiler does not say which type a choice
// between an int and an int64 has.
func yieldsNumber(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ConditionalNode:
		return yieldsNumber(n.Exp1) && yieldsNumber(n.Exp2)
	case *ast.VariableDeclaratorNode:
		return yieldsNumber(n.Expr)
	}
	if n.Type() == nil {
		return false
	}
	switch n.Type().Kind().String() {
	case "bool", "int", "int64", "float64":
		return true
	default:
		return false
	}
}

// Answer is what --stat knows of an answer beside the Response.
type Answer struct {
	Outcome string
	Stored  bool
	Seconds float64 // of the exchange
}

// Of returns the number of an answer; 0 if the evaluation fails, which is counted. It borrows its arguments.
func (s *Stat) Of(url []byte, way Way, r *Response, a Answer) float64 {
	p, ok := split(url)
	if !ok {
		return 0
	}
	e := s.begin()
	defer s.machines.Put(e)
	facts := &e.facts
	facts.fill(url, p, way, s.need, s.seeds)
	facts.fillResponse(r)
	facts.Duplicate, facts.NeedsRender, facts.Via = r.Duplicate, r.NeedsRender, ""
	if s.AsksVia() {
		facts.Via = string(r.Via)
	}
	facts.Outcome, facts.Stored, facts.Seconds = a.Outcome, a.Stored, a.Seconds
	out, err := e.machine.Run(s.program, facts)
	n, ok := numberOf(out)
	if err != nil || !ok {
		s.errors.Add(1)
	}
	return n
}

// numberOf returns the number that an expression yields; ok is false for what is none.
func numberOf(v any) (n float64, ok bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, false
		}
		return v, true
	}
	return 0, false
}
