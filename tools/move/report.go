package main

import (
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/tools/go/packages"
)

func (m *mover) note(kind, line string, args ...any) {
	if m.notes[kind] == nil {
		m.notes[kind] = map[string]bool{}
	}
	m.notes[kind][fmt.Sprintf(line, args...)] = true
}

func (m *mover) pos(p token.Pos) token.Position { return m.fset.Position(p) }

func (m *mover) rel(file string) string {
	r, err := filepath.Rel(m.root, file)
	if err != nil {
		return file
	}
	return r
}

func (m *mover) key(o types.Object) string {
	switch x := o.(type) {
	case *types.Var:
		o = x.Origin()
	case *types.Func:
		o = x.Origin()
	}
	p := m.pos(o.Pos())
	if p.Filename == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d", p.Filename, p.Line, p.Column)
}

func ours(o types.Object) bool {
	return o != nil && o.Pkg() != nil && (o.Pkg().Path() == module || strings.HasPrefix(o.Pkg().Path(), module+"/"))
}

func (m *mover) home(file, pkg string) string {
	if dst, ok := m.moved[file]; ok {
		h := module + "/" + dst
		if strings.HasSuffix(pkg, "_test") {
			h += "_test"
		}
		return h
	}
	return pkg
}

func (m *mover) homeOf(o types.Object) string {
	return m.home(m.pos(o.Pos()).Filename, o.Pkg().Path())
}

func (m *mover) rank(p string) int {
	for i, o := range m.order {
		if o == p {
			return i
		}
	}
	if p == module+"/engine" {
		return len(m.order)
	}
	return -1
}

func pkgPath(p *packages.Package) string { return p.PkgPath }

func (m *mover) report() {
	for _, kind := range []string{"not found", "upward", "method away from its type", "exported for a test", "shadowed", "conflict"} {
		lines := m.notes[kind]
		if len(lines) == 0 {
			continue
		}
		var s []string
		for l := range lines {
			s = append(s, l)
		}
		sort.Strings(s)
		fmt.Printf("== %s: %d\n", kind, len(s))
		for _, l := range s {
			fmt.Println("  ", l)
		}
	}
	var pairs []string
	for k := range m.deps {
		pairs = append(pairs, k)
	}
	sort.Strings(pairs)
	fmt.Printf("== pairs upward: %d\n", len(pairs))
	for _, k := range pairs {
		var s []string
		for n, c := range m.deps[k] {
			s = append(s, fmt.Sprintf("%s×%d", n, c))
		}
		sort.Strings(s)
		fmt.Printf("   %s: %s\n", strings.ReplaceAll(k, module+"/engine/", ""), strings.Join(s, ", "))
	}
	if m.quiet {
		return
	}
	var out []string
	for k, to := range m.names {
		if to != m.oldName[k] {
			out = append(out, fmt.Sprintf("%s=%s  %s", m.oldName[k], to, m.rel(k)))
		}
	}
	sort.Strings(out)
	fmt.Printf("== renamed: %d\n", len(out))
	for _, l := range out {
		fmt.Println("  ", l)
	}
}
