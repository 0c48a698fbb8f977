package lint

import (
	"go/ast"
	"go/token"
	"strings"
)

// checkGlobals finds assignments to package variables, their fields and elements, and addresses taken of them, in the
// code and the tests of their package. The variables are errors to compare with and tables: gochecknoglobals refuses
// all others.
func checkGlobals(h *tree) (faults []string) {
	globals := make(map[string]bool)
	h.each(func(f *goFile, n ast.Node) {
		file, ok := n.(*ast.File)
		if !ok {
			return
		}
		for _, decl := range file.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.VAR {
				for _, spec := range gen.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						globals[f.dir+"."+name.Name] = name.Name != "_"
					}
				}
			}
		}
	})
	for _, f := range h.files {
		ast.Inspect(f.ast, func(n ast.Node) bool {
			for _, target := range written(n) {
				if root := rootOf(target); root != nil && globals[f.dir+"."+root.Name] && !isLocal(f, root) {
					faults = append(faults, h.at(n)+": writes to the package variable "+root.Name)
				}
			}
			return true
		})
	}
	return faults
}

// written are the expressions that a node writes to, or could let others write to.
func written(n ast.Node) []ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			return n.Lhs
		}
	case *ast.IncDecStmt:
		return []ast.Expr{n.X}
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			return []ast.Expr{n.X}
		}
	case *ast.CallExpr:
		if fn, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && hasWord("delete clear", fn.Name) {
			return n.Args[:1]
		}
	}
	return nil
}

// rootOf returns the variable that an expression such as x.f[i] is part of.
func rootOf(e ast.Expr) *ast.Ident {
	switch x := e.(type) {
	case *ast.Ident:
		return x
	case *ast.SelectorExpr:
		return rootOf(x.X)
	case *ast.IndexExpr:
		return rootOf(x.X)
	case *ast.StarExpr:
		return rootOf(x.X)
	case *ast.ParenExpr:
		return rootOf(x.X)
	case *ast.SliceExpr:
		return rootOf(x.X)
	}
	return nil
}

// isLocal reports whether the name means something declared inside a function, or in an outside test package.
func isLocal(f *goFile, name *ast.Ident) bool {
	return strings.HasSuffix(f.ast.Name.Name, "_test") ||
		name.Obj != nil && f.ast.Scope.Lookup(name.Name) != name.Obj // without Obj: of another file of the package
}
