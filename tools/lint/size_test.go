package lint

import (
	"fmt"
	"go/ast"
)

// A file of more lines than linesMax holds more than one noun; a function of more does more than one thing.
const (
	linesMax     = 500
	funcLinesMax = 80
)

// tooLong lists what is longer than it should be, with its present length. An entry may shrink, must leave
// when it fits, and no entry may be added for new code. Functions are named file:name, or file:Type.name.
var tooLong = map[string]int{
	"workbench/concurrent_test.go:TestConcurrentUse": 107,
}

func checkSize(h *tree) (faults []string) {
	seen := make(map[string]bool)
	judge := func(key, where string, lines, limit int, instead string) {
		seen[key] = true
		was, listed := tooLong[key]
		switch {
		case lines <= limit && listed:
			faults = append(faults, fmt.Sprintf("tools/lint: %s fits by now: take it out of tooLong", key))
		case lines <= limit || listed && lines == was:
		case listed && lines < was:
			faults = append(
				faults,
				fmt.Sprintf(
					"tools/lint: %s has shrunk to %d lines: write that into tooLong, so that it does not grow again", key, lines,
				),
			)
		default:
			faults = append(faults, fmt.Sprintf("%s: %d lines, at most %d: %s", where, lines, limit, instead))
		}
	}
	for _, f := range h.files {
		judge(f.path, f.path, f.lines, linesMax, "it holds more than one noun; give the second one a file of its own")
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := h.fset.Position(fn.End()).Line - h.fset.Position(fn.Pos()).Line + 1
			judge(
				f.path+":"+nameOf(fn), h.at(fn)+" "+nameOf(fn), lines, funcLinesMax,
				"let the parent decide and the leaves compute; cut a leaf off",
			)
		}
	}
	for _, key := range sorted(tooLong) {
		if h.whole && !seen[key] {
			faults = append(faults, "tools/lint: tooLong names "+key+", which is gone: take it out")
		}
	}
	return faults
}

// nameOf is the function's name, with its type when it is a method.
func nameOf(fn *ast.FuncDecl) string {
	if fn.Recv == nil || len(fn.Recv.List) == 0 {
		return fn.Name.Name
	}
	if on := typeName(fn.Recv.List[0].Type); on != "" {
		return on + "." + fn.Name.Name
	}
	return fn.Name.Name
}

// typeName is the name of a type, through a pointer and type parameters.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
