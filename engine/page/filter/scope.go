package filter

import "fmt"

type scopeKind uint8

const (
	scopeAll scopeKind = iota
	scopeHost
	scopeDomain
	scopePrefix
	scopeExpression
)

// Scope decides which URLs belong to the crawl. It is safe for concurrent use.
type Scope struct {
	predicate[scopeFacts]
	kind scopeKind
}

type scopeFacts struct{ urlFacts }

// CompileScope compiles "all" (or an empty text), "host", "domain", "prefix" or an expression. It keeps seeds, which
// may be nil if there are none; later additions to seeds count.
func CompileScope(text string, seeds *Seeds) (*Scope, error) {
	s := new(Scope)
	kind, named := map[string]scopeKind{
		"": scopeAll, All: scopeAll, "host": scopeHost, "domain": scopeDomain, "prefix": scopePrefix,
	}[text]
	if named {
		if err := s.compile(All, false, seeds); err != nil {
			return nil, err
		}
		s.kind = kind
		if kind != scopeAll {
			s.text = text
		}
		return s, nil
	}
	s.kind = scopeExpression
	if err := s.compile(text, false, seeds); err != nil {
		return nil, fmt.Errorf("%w\na scope is domain, host, prefix, all, or an expression", err)
	}
	return s, nil
}

// AboutSeeds reports whether the scope depends on the seeds.
func (s *Scope) AboutSeeds() bool {
	return s.kind != scopeAll && s.kind != scopeExpression || s.need.inHost || s.need.inDomain || s.need.inPrefix
}

// Admits reports whether a normal form (borrowed) at this distance from a seed belongs to the crawl. Only http and
// https URLs do. The named scopes do not allocate.
func (s *Scope) Admits(url []byte, way Way) bool {
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
	}
	if s.program == nil { // none
		return s.answer
	}
	e := s.begin()
	e.facts.fill(url, p, way, s.need, s.seeds)
	return s.end(e)
}

// OnSeedHost reports whether a normal form (borrowed) is on the host of a seed.
func (s *Scope) OnSeedHost(url []byte) bool {
	p, ok := split(url)
	return ok && s.seeds.inHost(p)
}
