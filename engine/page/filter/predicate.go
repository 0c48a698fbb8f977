package filter

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/vm"
)

// ErrExpression is wrapped by every error about an expression; the text has line and column.
var ErrExpression = errors.New("filter: bad expression")

// The texts that are no expressions.
const (
	All  = "all"
	None = "none"
)

// expressionMax is the longest expression, in bytes.
const expressionMax = 64 << 10

// predicate decides by an expression over facts F, or always gives the same answer. It is safe for concurrent use.
type predicate[F any] struct {
	text     string
	answer   bool // the answer if there is no program
	cautious bool // the answer if an evaluation fails
	seeds    *Seeds
	program  *vm.Program
	asks     names
	asksVia  bool
	need     urlNeeds
	machines sync.Pool // *evaluation[F]
	errors   atomic.Uint64
}

// evaluation holds the facts and the machine of one evaluation.
type evaluation[F any] struct {
	machine vm.VM
	facts   F
}

// compile compiles all (or an empty text), none, or an expression over F. seeds may be nil if there are none.
func (p *predicate[F]) compile(text string, cautious bool, seeds *Seeds) error {
	if seeds == nil {
		seeds = new(Seeds)
	}
	p.text, p.cautious, p.seeds = text, cautious, seeds
	switch text {
	case "", All:
		p.text, p.answer = All, true
		return nil
	case None:
		return nil
	}
	return p.compileExpression(text, expr.AsBool())
}

func (p *predicate[F]) compileExpression(text string, result expr.Option) (err error) {
	if len(text) > expressionMax {
		return fmt.Errorf("%w: longer than %d KiB", ErrExpression, expressionMax>>10)
	}
	p.asks = make(names)
	p.program, err = expr.Compile(text, expr.Env(new(F)), result, expr.DisableBuiltin("now"), expr.Patch(p.asks),
		expr.Function("domain_of", domainOf, new(func(string) string)),
		expr.Function("int", toInt, new(func(float64) int), new(func(int) int), new(func(int64) int), new(func(string) int)))
	if err != nil && strings.Contains(err.Error(), "unknown name") {
		return fmt.Errorf("%w: %w\nan expression here knows %s", ErrExpression, err, knownNames(new(F)))
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrExpression, err)
	}
	if err = affordable(p.program.Node()); err != nil {
		p.program = nil
		return err
	}
	_, p.asksVia = p.asks["via"]
	p.need = p.asks.ofURL()
	return nil
}

// String returns the text that was compiled.
func (p *predicate[F]) String() string { return p.text }

// Errors returns the number of failed evaluations, which got the cautious answer.
func (p *predicate[F]) Errors() uint64 { return p.errors.Load() }

// Constant reports whether the answer is always the same, and returns it. Then callers need not collect facts.
func (p *predicate[F]) Constant() (answer, constant bool) { return p.answer, p.program == nil }

// AsksVia reports whether the expression uses the page with the link.
func (p *predicate[F]) AsksVia() bool { return p.asksVia }

// begin returns an evaluation, whose facts the caller fills.
func (p *predicate[F]) begin() *evaluation[F] {
	e, _ := p.machines.Get().(*evaluation[F])
	if e == nil {
		e = new(evaluation[F])
		e.machine.MemoryBudget = budgetMost
	}
	return e
}

// end evaluates, and takes the evaluation back.
func (p *predicate[F]) end(e *evaluation[F]) bool {
	defer p.machines.Put(e)
	out, err := e.machine.Run(p.program, &e.facts)
	yes, ok := out.(bool)
	if err != nil || !ok {
		p.errors.Add(1)
		return p.cautious
	}
	return yes
}

// names are the names that an expression uses.
type names map[string]struct{}

// Visit adds a name.
func (n names) Visit(node *ast.Node) {
	if id, ok := (*node).(*ast.IdentifierNode); ok {
		n[id.Value] = struct{}{}
	}
}

// any reports whether one of the names is used; $env stands for all.
func (n names) any(list ...string) bool {
	for _, name := range append(list, "$env") {
		if _, ok := n[name]; ok {
			return true
		}
	}
	return false
}

// toInt implements int: that of package expr gives a number for what does not fit, such as 1/0.
func toInt(params ...any) (any, error) {
	if n, isFloat := params[0].(float64); isFloat && !(n >= math.MinInt64 && n < -math.MinInt64) { // NaN too
		return nil, fmt.Errorf("%w: int(%v) is out of range", ErrExpression, n)
	}
	return builtin.Int(params[0]), nil
}

// domainOf implements domain_of.
func domainOf(params ...any) (any, error) {
	host, ok := params[0].(string)
	if !ok {
		return nil, fmt.Errorf("%w: domain_of takes a string", ErrExpression)
	}
	return string(registrable([]byte(host))), nil
}
