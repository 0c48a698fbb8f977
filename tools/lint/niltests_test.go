package lint

import (
	"errors"
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"
)

// findNilTests finds comparisons with nil of a collaborator: of a receiver, or of a field that is set once, whose type
// is a pointer to a struct with methods, or an interface with methods, that the module declares.
//
// No collaborators are: exported fields, which are options and records; fields of the type that holds them, which are
// links of a data structure; and fields that are set to nil or in more than one function, which are state.
func findNilTests(h *tree) (findings []finding) {
	c := &typeChecker{tree: h, byDir: h.packages(), done: make(map[string]*types.Package), info: &types.Info{
		Types: make(
			map[ast.Expr]types.TypeAndValue,
		), Selections: make(map[*ast.SelectorExpr]*types.Selection), Uses: make(map[*ast.Ident]types.Object),
	}}
	for _, dir := range sorted(c.byDir) {
		c.check(dir)
	}
	state := c.stateFields()
	for _, dir := range sorted(c.byDir) {
		for _, f := range c.byDir[dir] {
			if f.test || !isPortable(f.path) {
				continue
			}
			for _, decl := range f.ast.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					test, ok := n.(*ast.BinaryExpr)
					if !ok || test.Op != token.EQL && test.Op != token.NEQ || !isNil(test.Y) {
						return true
					}
					if name := c.collaborator(fn, test.X, state); name != "" {
						findings = append(findings, finding{dir, h.at(test), name + " " + test.Op.String() + " nil", 1})
					}
					return true
				})
			}
		}
	}
	return findings
}

func isNil(e ast.Expr) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "nil"
}

// A typeChecker checks the packages of the module without those that they import from outside: what these declare has
// no type, and the faults that follow are ignored. So it needs no compiled packages and takes a second.
type typeChecker struct {
	tree  *tree
	byDir map[string][]*goFile
	done  map[string]*types.Package
	info  *types.Info
}

var errOutside = errors.New("not a package of the module")

// Import implements types.Importer.
func (c *typeChecker) Import(imported string) (*types.Package, error) {
	dir, ours := strings.CutPrefix(imported, module+"/")
	if ours && len(c.byDir[dir]) > 0 {
		return c.check(dir), nil
	}
	if ours {
		return nil, errOutside
	}
	name := path.Base(imported)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = path.Base(path.Dir(imported))
	}
	empty := types.NewPackage(imported, name)
	empty.MarkComplete()
	return empty, nil
}

func (c *typeChecker) check(dir string) *types.Package {
	if p, ok := c.done[dir]; ok {
		return p
	}
	var files []*ast.File
	for _, f := range c.byDir[dir] {
		if !f.test && isPortable(f.path) {
			files = append(files, f.ast)
		}
	}
	config := types.Config{Importer: c, Error: func(error) {}, FakeImportC: true, DisableUnusedImportCheck: true}
	p, _ := config.Check(module+"/"+dir, c.tree.fset, files, c.info)
	c.done[dir] = p
	return p
}

// collaborator names the field or receiver that an expression is, if it is a collaborator.
func (c *typeChecker) collaborator(fn *ast.FuncDecl, e ast.Expr, state map[types.Object]bool) string {
	switch e := e.(type) {
	case *ast.SelectorExpr:
		selection := c.info.Selections[e]
		if selection == nil || selection.Kind() != types.FieldVal || !isCollaborator(selection.Type()) {
			return ""
		}
		if selection.Obj().Exported() || state[origin(selection.Obj())] {
			return ""
		}
		if named := namedOf(selection.Recv()); named != nil && named == namedOf(selection.Type()) {
			return ""
		}
		return types.ExprString(e)
	case *ast.Ident:
		object := c.info.Uses[e]
		if object == nil || fn.Recv == nil || len(fn.Recv.List[0].Names) == 0 {
			return ""
		}
		if receiver := fn.Recv.List[0].Names[0]; object.Pos() == receiver.Pos() && isCollaborator(object.Type()) {
			return e.Name
		}
	}
	return ""
}

// stateFields are the fields that are set to nil, or in more than one function.
func (c *typeChecker) stateFields() map[types.Object]bool {
	state := make(map[types.Object]bool)
	setIn := make(map[types.Object]*ast.FuncDecl)
	for _, f := range c.tree.files {
		if f.test || !isPortable(f.path) {
			continue
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				assign, ok := n.(*ast.AssignStmt)
				if !ok {
					return true
				}
				for i, left := range assign.Lhs {
					sel, ok := left.(*ast.SelectorExpr)
					if !ok || c.info.Selections[sel] == nil {
						continue
					}
					field := origin(c.info.Selections[sel].Obj())
					if before := setIn[field]; before != nil && before != fn ||
						len(assign.Lhs) == len(assign.Rhs) && isNil(assign.Rhs[i]) {
						state[field] = true
					}
					setIn[field] = fn
				}
				return true
			})
		}
	}
	return state
}

// origin is the field of the generic type that an instance was made of.
func origin(object types.Object) types.Object {
	if field, ok := object.(*types.Var); ok {
		return field.Origin()
	}
	return object
}

func namedOf(t types.Type) *types.Named {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, _ := types.Unalias(t).(*types.Named)
	if named != nil {
		named = named.Origin()
	}
	return named
}

func isCollaborator(t types.Type) bool {
	named := namedOf(t)
	if named == nil || named.Obj().Pkg() == nil || !strings.HasPrefix(named.Obj().Pkg().Path(), module+"/") {
		return false
	}
	_, pointer := types.Unalias(t).(*types.Pointer)
	switch under := named.Underlying().(type) {
	case *types.Interface:
		return !pointer && under.NumMethods() > 0
	case *types.Struct:
		return pointer && named.NumMethods() > 0
	}
	return false
}
