package lint

import (
	"go/ast"
	"go/token"
	"go/types"
)

// mayBeNil is a field that looks like a collaborator and is none.
const mayBeNil = "engine/records/dedup.m" // of a view: the merge that goes on, if there is one

// findNilTests finds comparisons with nil of a collaborator: of a receiver, or of a field that is set once, whose type
// is a pointer to a struct with methods, or an interface with methods, that the module declares.
//
// No collaborators are: exported fields, which are options and records; fields of the type that holds them, which are
// links of a data structure; and fields that are set to nil or in more than one function, which are state. Fields of a
// package with the same name are judged together: all must be collaborators.
func findNilTests(h *tree) (faults []string) {
	isCollaborator, isOther := h.fieldKinds()
	h.each(func(f *goFile, n ast.Node) {
		fn, ok := n.(*ast.FuncDecl)
		if !ok || !isPortable(f.path) {
			return
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			test, ok := n.(*ast.BinaryExpr)
			if !ok || test.Op != token.EQL && test.Op != token.NEQ || !isNil(test.Y) {
				return true
			}
			isFault := false
			switch x := test.X.(type) {
			case *ast.SelectorExpr:
				key := f.dir + "." + x.Sel.Name
				isFault = isCollaborator[key] && !isOther[key] && key != mayBeNil
			case *ast.Ident:
				if fn.Recv != nil && len(fn.Recv.List[0].Names) > 0 && x.Obj == fn.Recv.List[0].Names[0].Obj {
					_, isFault = fn.Recv.List[0].Type.(*ast.StarExpr)
				}
			}
			if isFault {
				faults = append(faults, h.at(test)+": "+types.ExprString(test))
			}
			return true
		})
	})
	return faults
}

// fieldKinds says which names of fields are those of collaborators, and which those of others, by package and name.
func (h *tree) fieldKinds() (isCollaborator, isOther map[string]bool) {
	isCollaborator, isOther = make(map[string]bool), make(map[string]bool)
	structs, interfaces := h.types()
	hasMethods := make(map[string]bool)
	setIn := make(map[string]*ast.FuncDecl)
	h.each(func(f *goFile, n ast.Node) {
		fn, ok := n.(*ast.FuncDecl)
		if !ok {
			return
		}
		if fn.Recv != nil {
			hasMethods[f.dir+"."+typeName(fn.Recv.List[0].Type)] = true
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if assign, ok := n.(*ast.AssignStmt); ok {
				for i, left := range assign.Lhs {
					if sel, ok := left.(*ast.SelectorExpr); ok {
						key := f.dir + "." + sel.Sel.Name
						before := setIn[key]
						setIn[key] = fn
						isOther[key] = isOther[key] || before != nil && before != fn ||
							len(assign.Lhs) == len(assign.Rhs) && isNil(assign.Rhs[i])
					}
				}
			}
			return true
		})
	})
	for place, s := range structs {
		for _, field := range s.node.Fields.List {
			of, _ := placeOf(s.file, field.Type)
			_, isPointer := field.Type.(*ast.StarExpr)
			isPart := isPointer && structs[of].node != nil && hasMethods[of] || !isPointer && interfaces[of]
			for _, name := range field.Names {
				key := s.file.dir + "." + name.Name
				if isPart && of != place && !name.IsExported() {
					isCollaborator[key] = true
				} else {
					isOther[key] = true
				}
			}
		}
	}
	return isCollaborator, isOther
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}
