package filter

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"
)

// ErrExpression is wrapped by every fault of an expression; the text names line and column.
var ErrExpression = errors.New("filter: bad expression")

type scopeKind uint8

const (
	scopeAll scopeKind = iota
	scopeHost
	scopeDomain
	scopePrefix
	scopeExpression
)

// Scope says which URLs belong to the crawl. It is safe for concurrent use.
type Scope struct {
	kind    scopeKind
	text    string
	seeds   *Seeds
	program *vm.Program
	machine sync.Pool // *scopeRun
	errors  atomic.Uint64
}

// scopeFacts are the names that a scope expression may use.
type scopeFacts struct {
	URL      string `expr:"url"`
	Site     string `expr:"site"`
	Scheme   string `expr:"scheme"`
	Host     string `expr:"host"`
	Port     int    `expr:"port"`
	Domain   string `expr:"domain"`
	Path     string `expr:"path"`
	Query    string `expr:"query"`
	Depth    int    `expr:"depth"`
	InHost   bool   `expr:"in_host"`
	InDomain bool   `expr:"in_domain"`
	InPrefix bool   `expr:"in_prefix"`
}

type scopeRun struct {
	machine vm.VM
	facts   scopeFacts
}

// CompileScope compiles "all" (or nothing), "host", "domain", "prefix" or an expression. It keeps seeds, which may be
// nil when there are none, and sees what is added to it later.
func CompileScope(text string, seeds *Seeds) (*Scope, error) {
	if seeds == nil {
		seeds = new(Seeds)
	}
	s := &Scope{text: text, seeds: seeds}
	switch text {
	case "", "all":
		s.text, s.kind = "all", scopeAll
	case "host":
		s.kind = scopeHost
	case "domain":
		s.kind = scopeDomain
	case "prefix":
		s.kind = scopePrefix
	default:
		s.kind = scopeExpression
		var err error
		if s.program, err = compile(text, &scopeFacts{}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// String gives the text that the Scope was compiled from.
func (s *Scope) String() string { return s.text }

// Errors counts the evaluations that failed and were answered with no.
func (s *Scope) Errors() uint64 { return s.errors.Load() }

// Admits says whether a URL in normal form (borrowed), depth links away from a seed, belongs to the crawl. What is not
// http or https never does. The named scopes do not allocate.
func (s *Scope) Admits(url []byte, depth int) bool {
	if s.kind == scopeAll {
		return hasHost(url)
	}
	p, ok := split(url)
	if !ok {
		return false
	}
	switch s.kind {
	case scopeHost:
		return s.seeds.inHost(p)
	case scopeDomain:
		return s.seeds.inDomain(p)
	case scopePrefix:
		return s.seeds.inPrefix(p)
	default:
		return s.evaluate(p, url, depth)
	}
}

func (s *Scope) evaluate(p parts, url []byte, depth int) bool {
	run, _ := s.machine.Get().(*scopeRun)
	if run == nil {
		run = new(scopeRun)
	}
	defer s.machine.Put(run)
	u := string(url) // one copy; all the other strings are parts of it
	host := u[len(p.scheme)+3:][:len(p.host)]
	path := len(p.site)
	run.facts = scopeFacts{
		URL: u, Site: u[:len(p.site)], Scheme: u[:len(p.scheme)], Host: host, Port: p.portNumber(),
		Domain: host[s.seeds.cut(p.host):], Path: u[path : path+len(p.path)], Depth: depth,
		InHost: s.seeds.inHost(p), InDomain: s.seeds.inDomain(p), InPrefix: s.seeds.inPrefix(p),
	}
	if end := path + len(p.path); end < len(u) {
		run.facts.Query = u[end+1:]
	}
	yes, err := runBool(&run.machine, s.program, &run.facts)
	if err != nil {
		s.errors.Add(1)
		return false
	}
	return yes
}

// compile compiles an expression over the fields of env, which must be a pointer to a struct.
func compile(text string, env any) (*vm.Program, error) {
	if len(text) > 64<<10 {
		return nil, fmt.Errorf("%w: longer than 64 KiB", ErrExpression)
	}
	program, err := expr.Compile(text, expr.Env(env), expr.AsBool(), expr.DisableBuiltin("now"),
		expr.Function("domain_of", domainOf, new(func(string) string)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrExpression, err)
	}
	return program, nil
}

// domainOf is the function domain_of of expressions.
func domainOf(params ...any) (any, error) {
	host, ok := params[0].(string)
	if !ok {
		return nil, fmt.Errorf("%w: domain_of takes a string", ErrExpression)
	}
	return string(registrable([]byte(host))), nil
}

func runBool(machine *vm.VM, program *vm.Program, env any) (bool, error) {
	out, err := machine.Run(program, env)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrExpression, err)
	}
	yes, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("%w: gave %T, not a bool", ErrExpression, out)
	}
	return yes, nil
}
