// Command cutdecl moves top-level declarations of the package of TARGET.go into that file.
//
//	cutdecl TARGET.go NAME Type.Method +NAME ...
//
// A name with a plus takes its whole const or var block along.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/imports"
)

func main() {
	target := os.Args[1]
	dir := filepath.Dir(target)
	want := map[string]bool{}
	whole := map[string]bool{}
	for _, n := range os.Args[2:] {
		if w, ok := strings.CutPrefix(n, "+"); ok {
			n, whole[w] = w, true
		}
		want[n] = true
	}
	files, _ := filepath.Glob(dir + "/*.go")
	var moved []string
	pkg := ""
	for _, f := range files {
		if f == target || strings.HasSuffix(f, "_test.go") != strings.HasSuffix(target, "_test.go") {
			continue
		}
		src, _ := os.ReadFile(f)
		fset := token.NewFileSet()
		af, err := parser.ParseFile(fset, f, src, parser.ParseComments)
		if err != nil {
			panic(err)
		}
		pkg = af.Name.Name
		type span struct{ a, b int }
		var cuts []span
		off := func(p token.Pos) int { return fset.Position(p).Offset }
		for _, d := range af.Decls {
			hit := false
			var doc *ast.CommentGroup
			switch d := d.(type) {
			case *ast.FuncDecl:
				n := d.Name.Name
				if d.Recv != nil {
					t := d.Recv.List[0].Type
					if s, ok := t.(*ast.StarExpr); ok {
						t = s.X
					}
					if id, ok := t.(*ast.Ident); ok {
						n = id.Name + "." + n
					}
				}
				hit, doc = want[n], d.Doc
				if hit {
					delete(want, n)
				}
			case *ast.GenDecl:
				doc = d.Doc
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if want[s.Name.Name] {
							hit = true
							delete(want, s.Name.Name)
						}
					case *ast.ValueSpec:
						for _, n := range s.Names {
							if want[n.Name] {
								if len(d.Specs) > 1 && !whole[n.Name] {
									// one line of a block
									a, b := off(s.Pos()), off(s.End())
									if s.Doc != nil {
										a = off(s.Doc.Pos())
									}
									if s.Comment != nil {
										b = off(s.Comment.End())
									}
									for a > 0 && src[a-1] != '\n' {
										a--
									}
									if b < len(src) && src[b] == '\n' {
										b++
									}
									cuts = append(cuts, span{a, b})
									moved = append(moved, d.Tok.String()+" (\n"+string(src[a:b])+")\n")
								} else {
									hit = true
								}
								delete(want, n.Name)
							}
						}
					}
				}
			}
			if !hit {
				continue
			}
			a, b := off(d.Pos()), off(d.End())
			if doc != nil {
				a = off(doc.Pos())
			}
			for b < len(src) && src[b] != '\n' {
				b++
			}
			if b < len(src) {
				b++
			}
			cuts = append(cuts, span{a, b})
			moved = append(moved, string(src[a:b]))
		}
		if len(cuts) == 0 {
			continue
		}
		out, at := []byte{}, 0
		for _, c := range cuts {
			out = append(out, src[at:c.a]...)
			at = c.b
		}
		out = append(out, src[at:]...)
		write(f, out)
	}
	for n := range want {
		fmt.Println("not found:", n)
	}
	src, err := os.ReadFile(target)
	if err != nil {
		src = []byte("package " + pkg + "\n")
	}
	write(target, []byte(string(src)+"\n"+strings.Join(moved, "\n")))
}

func write(f string, b []byte) {
	out, err := imports.Process(f, b, nil)
	if err != nil {
		fmt.Println(f, err)
		out = b
	}
	if err := os.WriteFile(f, out, 0o644); err != nil {
		panic(err)
	}
}
