package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

func (m *mover) apply() {
	touched := map[string]bool{}
	for f := range m.edits {
		touched[f] = true
	}
	for f := range m.moved {
		touched[f] = true
	}
	for f := range touched {
		src, err := os.ReadFile(f)
		if err != nil {
			fatal(err)
		}
		var es []edit
		for _, e := range m.edits[f] {
			es = append(es, e)
		}
		sort.Slice(es, func(i, j int) bool { return es[i].off < es[j].off })
		var out bytes.Buffer
		at := 0
		for _, e := range es {
			if e.off < at {
				fmt.Println("overlap in", f, e)
				continue
			}
			out.Write(src[at:e.off])
			out.WriteString(e.text)
			at = e.end
		}
		out.Write(src[at:])
		text := m.fixImports(f, out.Bytes())
		to := f
		if dst, ok := m.moved[f]; ok {
			to = filepath.Join(m.root, dst, filepath.Base(f))
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
				fatal(err)
			}
			if b, err := exec.Command("git", "-C", m.root, "mv", f, to).CombinedOutput(); err != nil {
				fatal(fmt.Errorf("%v: %s", err, b))
			}
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			fatal(err)
		}
	}
	fmt.Printf("wrote %d files\n", len(touched))
}

func (m *mover) fixImports(file string, src []byte) []byte {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, src, parser.ParseComments)
	if err != nil {
		fmt.Println("parse:", err)
		return src
	}
	for imp := range m.imports[file] {
		astutil.AddImport(fset, f, imp)
	}
	used := map[string]bool{}
	ast.Inspect(f, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				used[x.Name] = true
			}
		}
		return true
	})
	for _, s := range append([]*ast.ImportSpec{}, f.Imports...) {
		p, _ := strconv.Unquote(s.Path.Value)
		if s.Name != nil {
			if s.Name.Name != "_" && !used[s.Name.Name] {
				astutil.DeleteNamedImport(fset, f, s.Name.Name, p)
			}
			continue
		}
		if strings.HasPrefix(p, module) && !used[m.qualifier(p)] {
			astutil.DeleteImport(fset, f, p)
		}
	}
	var b bytes.Buffer
	if err := format.Node(&b, fset, f); err != nil {
		fmt.Println("format:", err)
		return src
	}
	return b.Bytes()
}
