package main

import (
	"go/ast"
	"go/types"
	"path"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

func member(o types.Object) bool {
	switch x := o.(type) {
	case *types.Var:
		return x.IsField()
	case *types.Func:
		return x.Signature().Recv() != nil
	}
	return false
}

func pkgLevel(o types.Object) bool {
	return o.Pkg() != nil && o.Parent() == o.Pkg().Scope() && !member(o)
}

func exportName(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	up := string(unicode.ToUpper(r)) + s[n:]
	for _, a := range []string{"Url", "Ip", "Dns", "Http", "Id", "Tls", "Warc"} {
		if up == a || strings.HasPrefix(up, a) && len(up) > len(a) && unicode.IsUpper(rune(up[len(a)])) {
			up = strings.ToUpper(a) + up[len(a):]
		}
	}
	return up
}

func (m *mover) want(o types.Object) {
	k := m.key(o)
	if _, ok := m.names[k]; ok {
		return
	}
	m.names[k] = exportName(o.Name())
	m.oldName[k] = o.Name()
}

func (m *mover) link(a, b types.Object) {
	ka, kb := m.key(a), m.key(b)
	if ka == kb || ka == "" || kb == "" {
		return
	}
	for _, p := range [][2]string{{ka, kb}, {kb, ka}} {
		if m.links[p[0]] == nil {
			m.links[p[0]] = map[string]bool{}
		}
		m.links[p[0]][p[1]] = true
	}
	m.oldName[ka], m.oldName[kb] = a.Name(), b.Name()
}

func (m *mover) collect() {
	var named []*types.Named
	var ifaces []*types.Interface
	objs := map[types.Object]bool{}
	for _, p := range m.pkgs {
		if p.TypesInfo == nil {
			continue
		}
		dir := strings.TrimPrefix(strings.TrimSuffix(p.PkgPath, "_test"), module+"/")
		for _, o := range p.TypesInfo.Defs {
			if o == nil || o.Pkg() == nil {
				continue
			}
			objs[o] = true
			switch {
			case pkgLevel(o):
				if to, ok := m.given[dir+":"+o.Name()]; ok {
					m.names[m.key(o)], m.oldName[m.key(o)] = to, o.Name()
					m.seenKey[dir+":"+o.Name()] = true
				}
				if tn, ok := o.(*types.TypeName); ok && !tn.IsAlias() {
					if n, ok := tn.Type().(*types.Named); ok {
						named = append(named, n)
						m.members(dir, n)
					}
				}
			}
		}
		for _, f := range p.Syntax {
			ast.Inspect(f, func(n ast.Node) bool {
				if it, ok := n.(*ast.InterfaceType); ok {
					if i, ok := p.TypesInfo.TypeOf(it).(*types.Interface); ok && i.NumMethods() > 0 {
						ifaces = append(ifaces, i)
					}
				}
				return true
			})
		}
	}
	// embedded fields have the name of their type
	for o := range objs {
		if v, ok := o.(*types.Var); ok && v.Embedded() {
			t := v.Type()
			if pt, ok := t.(*types.Pointer); ok {
				t = pt.Elem()
			}
			if n, ok := t.(*types.Named); ok && ours(n.Obj()) {
				m.link(v, n.Obj())
			}
		}
	}
	// methods of interfaces, and the methods that implement them
	for _, i := range ifaces {
		anyOurs := false
		for j := range i.NumMethods() {
			if ours(i.Method(j)) {
				anyOurs = true
			}
		}
		if !anyOurs {
			continue
		}
		for _, n := range named {
			if types.IsInterface(n) || n.TypeParams().Len() > 0 {
				continue
			}
			pt := types.NewPointer(n)
			if !types.Implements(pt, i) {
				continue
			}
			for j := range i.NumMethods() {
				o, _, _ := types.LookupFieldOrMethod(pt, true, i.Method(j).Pkg(), i.Method(j).Name())
				if o != nil && ours(o) && ours(i.Method(j)) {
					m.link(i.Method(j), o)
				}
			}
		}
	}
	// what is used across packages must be exported
	for _, p := range m.pkgs {
		if p.TypesInfo == nil {
			continue
		}
		for id, o := range p.TypesInfo.Uses {
			if !ours(o) || !(pkgLevel(o) || member(o)) || o.Name() == "_" {
				continue
			}
			f := m.pos(id.Pos()).Filename
			here, home := m.home(f, pkgPath(p)), m.homeOf(o)
			if hi, ho := m.rank(here), m.rank(home); here != home && !strings.HasSuffix(f, "_test.go") && hi >= 0 &&
				ho > hi {
				k := here + " -> " + home
				if m.deps[k] == nil {
					m.deps[k] = map[string]int{}
				}
				at := path.Base(m.rel(f))
				what := o.Name()
				what = path.Base(m.rel(m.pos(o.Pos()).Filename)) + ":" + what
				m.deps[k][at+" "+what]++
			}
			if o.Exported() {
				if _, ok := m.moved[m.pos(o.Pos()).Filename]; !ok && here != home &&
					m.home(f, pkgPath(p)) != pkgPath(p) &&
					m.rank(home) >= 0 &&
					m.rank(home) > m.rank(here) {
					m.note("upward", "%s uses %s of %s (%s)", m.rel(f), o.Name(), m.rel(m.pos(o.Pos()).Filename), home)
				}
				continue
			}
			if here != home {
				m.want(o)
				what := o.Name()
				if _, ok := m.moved[m.pos(o.Pos()).Filename]; !ok {
					m.note("upward", "%s uses %s of %s (%s)", m.rel(f), what, m.rel(m.pos(o.Pos()).Filename), home)
				} else if strings.HasSuffix(f, "_test.go") {
					m.note("exported for a test", "%s by %s", what, m.rel(f))
				}
			}
		}
		for _, f := range p.Syntax {
			ast.Inspect(f, func(n ast.Node) bool {
				cl, ok := n.(*ast.CompositeLit)
				if !ok || len(cl.Elts) == 0 {
					return true
				}
				if _, keyed := cl.Elts[0].(*ast.KeyValueExpr); keyed {
					return true
				}
				t := p.TypesInfo.TypeOf(cl)
				if t == nil {
					return true
				}
				st, ok := t.Underlying().(*types.Struct)
				if !ok {
					return true
				}
				for i := range st.NumFields() {
					o := st.Field(i)
					if ours(o) && !o.Exported() && m.home(m.pos(cl.Pos()).Filename, pkgPath(p)) != m.homeOf(o) {
						m.want(o)
					}
				}
				return true
			})
		}
	}
	// methods away from their type
	for _, n := range named {
		th := m.homeOf(n.Obj())
		for i := range n.NumMethods() {
			if mh := m.homeOf(n.Method(i)); mh != th {
				m.note(
					"method away from its type",
					"%s.%s in %s",
					n.Obj().Name(),
					n.Method(i).Name(),
					m.rel(m.pos(n.Method(i).Pos()).Filename),
				)
			}
		}
	}
}

func (m *mover) members(dir string, n *types.Named) {
	name := n.Obj().Name()
	one := func(o types.Object) {
		k := dir + ":" + name + "." + o.Name()
		if to, ok := m.given[k]; ok {
			m.names[m.key(o)], m.oldName[m.key(o)] = to, o.Name()
			m.seenKey[k] = true
		}
	}
	for i := range n.NumMethods() {
		one(n.Method(i))
	}
	switch u := n.Underlying().(type) {
	case *types.Struct:
		for i := range u.NumFields() {
			one(u.Field(i))
		}
	case *types.Interface:
		for i := range u.NumExplicitMethods() {
			one(u.ExplicitMethod(i))
		}
	}
}

func (m *mover) spread() {
	given := map[string]bool{}
	for _, to := range m.given {
		given[to] = true
	}
	var queue []string
	for k := range m.names {
		queue = append(queue, k)
	}
	sort.Slice(queue, func(i, j int) bool { return given[m.names[queue[i]]] && !given[m.names[queue[j]]] })
	for len(queue) > 0 {
		k := queue[0]
		queue = queue[1:]
		for l := range m.links[k] {
			if m.oldName[l] != m.oldName[k] {
				continue
			}
			if had, ok := m.names[l]; !ok || had != m.names[k] && !given[had] {
				m.names[l] = m.names[k]
				queue = append(queue, l)
			}
		}
	}
}
