package lint

import (
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"
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
				faults = append(faults, fmt.Sprintf("%s: %s: the chain names what does not exist", at, name))
			}
		}
	}
	for _, f := range h.files {
		if f.test || f.ast.Doc == nil {
			continue
		}
		first := h.fset.Position(f.ast.Doc.Pos()).Line
		for i, comment := range f.ast.Doc.List {
			if strings.HasPrefix(comment.Text, "//\t") && strings.Contains(comment.Text, " -> ") {
				judge(f.path+":"+strconv.Itoa(first+i), comment.Text)
			}
		}
	}
	const page = "ARCHITECTURE.md"
	inSection, fenced, number := false, false, 0
	for line := range strings.Lines(h.texts[page]) {
		number++
		switch {
		case strings.HasPrefix(line, "## "):
			inSection = strings.TrimSpace(line) == chainsHeading
		case strings.HasPrefix(line, "```"):
			fenced = !fenced
		case inSection && fenced:
			judge(page+":"+strconv.Itoa(number), line)
		}
	}
	return faults
}

// memberNames are the declarations of packages, and the methods and fields of types. Packages are known by directory
// and by name.
type memberNames map[string]map[string]bool

// members collects the names of all packages.
func (h *tree) members() memberNames {
	known := make(memberNames)
	add := func(of, name string) {
		if known[of] == nil {
			known[of] = make(map[string]bool)
		}
		known[of][name] = true
	}
	for _, f := range h.files {
		if f.test {
			continue
		}
		owners := []string{f.dir, f.ast.Name.Name}
		for _, decl := range f.ast.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				receiver := receiverType(d)
				for _, owner := range owners {
					if receiver == "" {
						add(owner, d.Name.Name)
						continue
					}
					add(owner, receiver)
					add(owner+"."+receiver, d.Name.Name)
				}
				if receiver != "" {
					add(receiver, d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					addSpec(add, owners, spec)
				}
			}
		}
	}
	return known
}

// addSpec adds constants, variables, types, and the fields or methods of a type.
func addSpec(add func(of, name string), owners []string, spec ast.Spec) {
	switch s := spec.(type) {
	case *ast.ValueSpec:
		for _, owner := range owners {
			for _, n := range s.Names {
				add(owner, n.Name)
			}
		}
	case *ast.TypeSpec:
		var fields *ast.FieldList
		switch body := s.Type.(type) {
		case *ast.StructType:
			fields = body.Fields
		case *ast.InterfaceType:
			fields = body.Methods
		}
		add(s.Name.Name, "") // a type without members is known, too
		for _, owner := range owners {
			add(owner, s.Name.Name)
		}
		if fields == nil {
			return
		}
		for _, field := range fields.List {
			for _, n := range field.Names {
				add(s.Name.Name, n.Name)
				for _, owner := range owners {
					add(owner+"."+s.Name.Name, n.Name)
				}
			}
		}
	}
}

// receiverType is the name of a method's type; "" for a function.
func receiverType(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return ""
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
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

// TestChains plants names in chains.
func TestChains(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{"ARCHITECTURE.md", "## Named chains\n```\nworkbench.Gone\n```\n", "workbench.Gone: the chain names"},
		{
			"dnsres/doc.go", "// Package dnsres resolves.\n//\n//\tworkbench.Open -> Table.Gone\npackage dnsres\n",
			"Table.Gone: the chain names",
		},
		{"ARCHITECTURE.md", "## Named chains\n```\nworkbench.Open -> context.AfterFunc, robots.txt\n```\n", ""},
		{"ARCHITECTURE.md", "## Packages\n```\nworkbench.Gone\n```\n", ""},
	} {
		texts := sound()
		maps.Copy(texts, map[string]string{c.file: c.text})
		got := strings.Join(checkChains(plant(t, texts)), "\n")
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: got %q, want %q", c.file, got, c.want)
		}
	}
}
