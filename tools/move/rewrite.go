package main

import (
	"go/ast"
	"go/types"
	"path"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/tools/go/packages"
)

func (m *mover) put(file string, e edit) {
	if m.edits[file] == nil {
		m.edits[file] = map[int]edit{}
	}
	if had, ok := m.edits[file][e.off]; ok && had != e {
		m.note("conflict", "%s:%d %q or %q", m.rel(file), e.off, had.text, e.text)
	}
	m.edits[file][e.off] = e
}

func (m *mover) need(file, imp string) {
	if m.imports[file] == nil {
		m.imports[file] = map[string]bool{}
	}
	m.imports[file][imp] = true
}

func (m *mover) rewrite() {
	for _, p := range m.pkgs {
		if p.TypesInfo == nil || strings.HasSuffix(p.ID, ".test") {
			continue
		}
		for _, f := range p.Syntax {
			m.rewriteFile(p, f)
		}
	}
}

func (m *mover) rewriteFile(p *packages.Package, f *ast.File) {
	file := m.pos(f.Pos()).Filename
	here := m.home(file, pkgPath(p))
	info := p.TypesInfo
	selOf := map[*ast.Ident]*ast.SelectorExpr{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				if _, ok := info.Uses[x].(*types.PkgName); ok {
					selOf[s.Sel] = s
				}
			}
		}
		return true
	})
	if dst, ok := m.moved[file]; ok {
		name := path.Base(dst)
		if strings.HasSuffix(f.Name.Name, "_test") {
			name += "_test"
		}
		m.put(file, edit{m.pos(f.Name.Pos()).Offset, m.pos(f.Name.End()).Offset, name})
	}
	names := map[string]string{}
	localRenames := map[types.Object]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		o := info.Uses[id]
		def := false
		if o == nil {
			o, def = info.Defs[id], true
		}
		if o == nil || !ours(o) || !(pkgLevel(o) || member(o)) {
			return true
		}
		start, end := m.pos(id.Pos()).Offset, m.pos(id.End()).Offset
		name := o.Name()
		if to, ok := m.names[m.key(o)]; ok {
			name = to
			names[o.Name()] = to
		}
		if def || member(o) {
			if name != o.Name() {
				m.put(file, edit{start, end, name})
			}
			return true
		}
		home := m.homeOf(o)
		sel := selOf[id]
		switch {
		case home == here:
			if sel != nil {
				m.put(file, edit{m.pos(sel.Pos()).Offset, end, name})
			} else if name != o.Name() {
				m.put(file, edit{start, end, name})
			}
		default:
			q := m.qualifier(home)
			if sel != nil {
				x := sel.X.(*ast.Ident)
				pn := info.Uses[x].(*types.PkgName)
				if pn.Imported().Path() == home {
					if name != o.Name() {
						m.put(file, edit{start, end, name})
					}
					return true
				}
				start = m.pos(sel.Pos()).Offset
			}
			m.need(file, home)
			m.put(file, edit{start, end, q + "." + name})
			if inner := p.Types.Scope().Innermost(id.Pos()); inner != nil {
				_, found := inner.LookupParent(q, id.Pos())
				if found == nil {
					return true
				}
				if pn, ok := found.(*types.PkgName); ok && pn.Imported().Path() == home {
					return true
				}
				if pkgLevel(found) && m.home(m.pos(found.Pos()).Filename, found.Pkg().Path()) != here {
					return true // it moves away
				}
				if pkgLevel(found) {
					if to, ok := m.names[m.key(found)]; ok && to != q {
						return true
					}
				}
				if found.Pkg() == nil {
					m.note("shadowed", "%s: %s is predeclared", m.pos(id.Pos()), q)
				} else if to, ok := m.locals[q]; ok && !pkgLevel(found) {
					localRenames[found] = to
				} else {
					m.note("shadowed", "%s:%d: %s is %v", m.rel(file), m.pos(id.Pos()).Line, q, found)
				}
			}
		}
		return true
	})
	if len(localRenames) > 0 {
		for id, o := range info.Defs {
			if to, ok := localRenames[o]; ok && o != nil {
				m.put(m.pos(id.Pos()).Filename, edit{m.pos(id.Pos()).Offset, m.pos(id.End()).Offset, to})
			}
		}
		for id, o := range info.Uses {
			if to, ok := localRenames[o]; ok {
				m.put(m.pos(id.Pos()).Filename, edit{m.pos(id.Pos()).Offset, m.pos(id.End()).Offset, to})
			}
		}
	}
	// comments
	if len(names) == 0 {
		return
	}
	first := map[string]bool{}
	for _, d := range f.Decls {
		if fd, ok := d.(*ast.FuncDecl); ok {
			first[fd.Name.Name] = true
		}
		if gd, ok := d.(*ast.GenDecl); ok {
			for _, s := range gd.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					first[s.Name.Name] = true
				case *ast.ValueSpec:
					for _, n := range s.Names {
						first[n.Name] = true
					}
				}
			}
		}
	}
	for _, g := range f.Comments {
		for i, c := range g.List {
			for old, to := range names {
				if old == to || !strings.Contains(c.Text, old) {
					continue
				}
				camel := strings.IndexFunc(old[1:], unicode.IsUpper) >= 0
				for _, loc := range regexp.MustCompile(`\b`+regexp.QuoteMeta(old)+`\b`).FindAllStringIndex(c.Text, -1) {
					if camel || i == 0 && loc[0] == 3 && first[old] {
						off := m.pos(c.Pos()).Offset + loc[0]
						m.put(file, edit{off, off + len(old), to})
					}
				}
			}
		}
	}
}

func (m *mover) qualifier(p string) string {
	if n, ok := m.pkgName[p]; ok && n != "" {
		return n
	}
	return path.Base(p)
}
