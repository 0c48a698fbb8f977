package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// checkGlobals finds writes to package variables. They are errors to compare with and tables that are only read:
// gochecknoglobals refuses all others.
func checkGlobals(h *tree) (faults []string) {
	globals := make(map[string]bool)
	for _, f := range h.files {
		for _, decl := range f.ast.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok && gen.Tok == token.VAR && !f.test {
				for _, spec := range gen.Specs {
					for _, name := range spec.(*ast.ValueSpec).Names {
						globals[f.dir+"."+name.Name] = true
					}
				}
			}
		}
	}
	for _, f := range h.files {
		faults = append(faults, writesToGlobals(h, f, globals)...)
	}
	return faults
}

// writesToGlobals finds assignments to package variables, their fields and elements, and addresses taken of them, in
// the code and the tests of their package.
func writesToGlobals(h *tree, f *goFile, globals map[string]bool) (faults []string) {
	report := func(n ast.Node, target ast.Expr) {
		root := rootOf(target)
		if root == nil || root.Name == "_" || !globals[f.dir+"."+root.Name] || isLocal(f, root) {
			return
		}
		faults = append(
			faults,
			fmt.Sprintf(
				"%s: writes to the package variable %s: what changes belongs to a value that was opened; a test passes its wish "+
					"as an option",
				h.at(n), root.Name,
			),
		)
	}
	ast.Inspect(f.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok != token.DEFINE {
				for _, left := range n.Lhs {
					report(n, left)
				}
			}
		case *ast.IncDecStmt:
			report(n, n.X)
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				report(n, n.X)
			}
		case *ast.CallExpr:
			if fn, ok := n.Fun.(*ast.Ident); ok && len(n.Args) > 0 && (fn.Name == "delete" || fn.Name == "clear") {
				report(n, n.Args[0])
			}
		}
		return true
	})
	return faults
}

// rootOf returns the variable that an expression such as x.f[i] is part of.
func rootOf(e ast.Expr) *ast.Ident {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		case *ast.SliceExpr:
			e = x.X
		default:
			return nil
		}
	}
}

// isLocal reports whether the name means something declared inside a function, or in an outside test package.
func isLocal(f *goFile, name *ast.Ident) bool {
	if strings.HasSuffix(f.ast.Name.Name, "_test") {
		return true
	}
	if name.Obj == nil {
		return false // declared in another file of the package
	}
	return f.ast.Scope.Lookup(name.Name) != name.Obj
}
