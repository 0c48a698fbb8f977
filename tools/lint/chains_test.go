package lint

import (
	"go/ast"
	"regexp"
	"strings"
)

// chainsHeading begins the section of ARCHITECTURE.md that follows a decision through the packages.
const chainsHeading = "## Named chains"

// chainName is a name with a dot, such as schedule.Feeder.feed or Frontier.Add, perhaps with the path of its package.
var chainName = regexp.MustCompile(`(?:[a-z]\w*/)*\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+`)

// checkChains looks for names that do not exist. A chain is a line with an arrow in an indented block of a package
// comment, or any line of a fenced block in the section of ARCHITECTURE.md.
func checkChains(h *tree) (faults []string) {
	known := h.members()
	judge := func(at, line string) {
		for _, name := range chainName.FindAllString(line, -1) {
			if !known.has(name) && !h.existsSomewhere(name) && !strings.HasSuffix(name, ".txt") {
				faults = append(faults, at+": "+name+" does not exist")
			}
		}
	}
	for _, f := range h.files {
		if f.test || f.ast.Doc == nil {
			continue
		}
		for _, comment := range f.ast.Doc.List {
			if strings.HasPrefix(comment.Text, "//\t") && strings.Contains(comment.Text, " -> ") {
				judge(h.at(comment), comment.Text)
			}
		}
	}
	_, section, _ := strings.Cut(h.texts[mapFile], "\n"+chainsHeading)
	section, _, _ = strings.Cut(section, "\n## ")
	for i, block := range strings.Split(section, "\n```") {
		if i%2 == 1 {
			judge(mapFile, block)
		}
	}
	return faults
}

// memberNames are the declarations of packages, and the methods and fields of types. Packages are known by directory
// and by name, types also without their package.
type memberNames map[string]map[string]bool

// members collects the names of all packages.
func (h *tree) members() memberNames {
	known := make(memberNames)
	h.each(func(f *goFile, n ast.Node) {
		switch d := n.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil || len(d.Recv.List) == 0 {
				known.add(f, "", d.Name)
			} else {
				known.add(f, typeName(d.Recv.List[0].Type), d.Name)
			}
		case *ast.ValueSpec:
			known.add(f, "", d.Names...)
		case *ast.TypeSpec:
			known.add(f, "", d.Name)
			known.add(f, d.Name.Name, ast.NewIdent("")) // a type without members is known, too
			var fields *ast.FieldList
			switch body := d.Type.(type) {
			case *ast.StructType:
				fields = body.Fields
			case *ast.InterfaceType:
				fields = body.Methods
			default:
				return
			}
			for _, field := range fields.List {
				known.add(f, d.Name.Name, field.Names...)
			}
		}
	})
	return known
}

// add adds names of a package, or of a type of it.
func (m memberNames) add(f *goFile, typ string, names ...*ast.Ident) {
	owners := []string{f.dir, f.ast.Name.Name}
	if typ != "" {
		owners = []string{f.dir + "." + typ, f.ast.Name.Name + "." + typ, typ}
	}
	for _, owner := range owners {
		if m[owner] == nil {
			m[owner] = make(map[string]bool)
		}
		for _, name := range names {
			m[owner][name.Name] = true
		}
	}
}

// typeName is the name of a type, through a pointer and type parameters; "" for other types.
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

// has reports whether a dotted name exists. Names of packages outside of the module are not judged.
func (m memberNames) has(name string) bool {
	end := strings.LastIndexByte(name, '.')
	owner, member := name[:end], name[end+1:]
	first, _, _ := strings.Cut(owner, ".")
	if _, ours := m[first]; !ours && !strings.Contains(owner, "/") {
		return first[0] >= 'a' && first[0] <= 'z'
	}
	return m[owner][member]
}
