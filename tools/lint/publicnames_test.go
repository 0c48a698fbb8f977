package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// publicNamesFile lists every name that operators and scripts rely on, beside the word that others use for it.
const publicNamesFile = "docs/names.md"

// checkPublicNames compares the tables of publicNamesFile with the names in the code, section by section.
func checkPublicNames(h *tree) (faults []string) {
	code := map[string]map[string]string{
		"Commands":          h.commands(),
		"Flags":             h.flags(),
		"Control endpoints": h.literals(regexp.MustCompile(`^(GET|POST|PUT|DELETE) /`)),
		"report.json":       h.reportFields(),
		"States":            h.constants("State"),
		"Agent states":      h.constants("AgentState"),
		"Outcomes":          h.outcomes(),
		"Metrics":           h.metrics(),
	}
	page := rowsBySection(h.texts[publicNamesFile])
	for _, section := range sorted(code) {
		for _, name := range sorted(code[section]) {
			if !page[section][name] {
				faults = append(
					faults,
					fmt.Sprintf("%s: %s: %q has no row in section %q", publicNamesFile, code[section][name], name, section),
				)
			}
		}
		for _, name := range sorted(page[section]) {
			if code[section][name] == "" {
				faults = append(
					faults,
					fmt.Sprintf("%s: %q of section %q is gone: take its row out", publicNamesFile, name, section),
				)
			}
		}
	}
	return faults
}

// rowsBySection are the first cells of the table rows, without backticks, under each heading.
func rowsBySection(page string) map[string]map[string]bool {
	rows := make(map[string]map[string]bool)
	section := ""
	for line := range strings.Lines(page) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			section = strings.TrimSpace(heading)
			rows[section] = make(map[string]bool)
		}
		if first, ok := strings.CutPrefix(line, "| `"); ok && section != "" {
			name, _, _ := strings.Cut(first, "`")
			rows[section][name] = true
		}
	}
	return rows
}

// eachField calls visit for every tagged field of a struct type in a directory.
func (h *tree) eachField(
	dir string,
	visit func(structName, fieldName string, tag reflect.StructTag, field *ast.Field),
) {
	h.eachStruct(func(f *goFile, name string, s *ast.StructType) {
		if f.dir != dir && !strings.HasPrefix(f.dir, dir+"/") {
			return
		}
		for _, field := range s.Fields.List {
			if field.Tag == nil {
				continue
			}
			tag, err := strconv.Unquote(field.Tag.Value)
			if err != nil {
				continue
			}
			for _, id := range field.Names {
				visit(name, id.Name, reflect.StructTag(tag), field)
			}
		}
	})
}

// kebab is the name that package kong gives to a field without a name of its own.
func kebab(field string) string { return strings.Join(nameParts(field), "-") }

// commands are the fields with a tag cmd, joined with the command that they belong to.
func (h *tree) commands() map[string]string {
	type command struct{ in, name, of, at string }
	var all []command
	h.eachStruct(func(f *goFile, structName string, s *ast.StructType) {
		if !isProgram(f.dir) {
			return
		}
		for _, field := range s.Fields.List {
			tag := tagOf(field)
			if _, ok := tag.Lookup("cmd"); !ok || len(field.Names) != 1 {
				continue
			}
			name := tag.Get("name")
			if name == "" {
				name = kebab(field.Names[0].Name)
			}
			all = append(all, command{f.dir + "." + structName, name, f.typePlace(field.Type), h.at(field)})
		}
	})
	parents := make(map[string]string) // by the type of the field
	groups := make(map[string]bool)
	for _, c := range all {
		parents[c.of] = c.name
		groups[c.in] = true
	}
	names := make(map[string]string)
	for _, c := range all {
		if groups[c.of] {
			continue
		}
		name := c.name
		if parent := parents[c.in]; parent != "" {
			name = parent + " " + name
		}
		names[name] = c.at
	}
	return names
}

// tagOf is the tag of a field, empty if it has none.
func tagOf(field *ast.Field) reflect.StructTag {
	if field.Tag == nil {
		return ""
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return ""
	}
	return reflect.StructTag(tag)
}

// typePlace is a type as DIRECTORY.NAME: of the file's package, or of one that it imports.
func (f *goFile) typePlace(e ast.Expr) string {
	if other, ok := e.(*ast.SelectorExpr); ok {
		if pkg, ok := other.X.(*ast.Ident); ok {
			return strings.TrimPrefix(f.imports[pkg.Name], module+"/") + "." + other.Sel.Name
		}
	}
	return f.dir + "." + typeName(e)
}

// flags are the fields with a tag help that are neither commands nor arguments.
func (h *tree) flags() map[string]string {
	names := make(map[string]string)
	add := func(_, fieldName string, tag reflect.StructTag, field *ast.Field) {
		_, help := tag.Lookup("help")
		_, command := tag.Lookup("cmd")
		_, argument := tag.Lookup("arg")
		if !help || command || argument {
			return
		}
		name := tag.Get("name")
		if name == "" {
			name = kebab(fieldName)
		}
		names["--"+name] = h.at(field)
	}
	for _, dir := range []string{"cmd", "engine", "sieve", "workbench", "dnsres"} { // components with flags
		h.eachField(dir, add)
	}
	return names
}

// literals are the string literals of the product that match.
func (h *tree) literals(pattern *regexp.Regexp) map[string]string {
	names := make(map[string]string)
	for _, f := range h.files {
		if f.test || !strings.HasPrefix(f.dir, "engine") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			if text := stringOf(n); pattern.MatchString(text) {
				names[text] = h.at(n)
			}
			return true
		})
	}
	return names
}

// stringOf is the value of a string literal, "" for any other node.
func stringOf(n ast.Node) string {
	literal, ok := n.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return text
}

// reportFields are the JSON names of the struct with a field urls_found, and of the structs that it holds, as paths.
func (h *tree) reportFields() map[string]string {
	structs := make(map[string]*ast.StructType)
	root := ""
	h.eachField("engine", func(structName, _ string, tag reflect.StructTag, _ *ast.Field) {
		if tag.Get("json") == "urls_found" {
			root = structName
		}
	})
	h.eachStruct(func(f *goFile, name string, s *ast.StructType) {
		if strings.HasPrefix(f.dir, "engine") && (strings.HasSuffix(name, "Report") || strings.HasSuffix(name, "Site")) {
			structs[name] = s
		}
	})
	names := make(map[string]string)
	var walk func(name, prefix string)
	walk = func(name, prefix string) {
		s := structs[name]
		if s == nil {
			return
		}
		for _, field := range s.Fields.List {
			if field.Tag == nil {
				continue
			}
			tag, _ := strconv.Unquote(field.Tag.Value)
			json, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
			if json == "" || json == "-" {
				continue
			}
			names[prefix+json] = h.at(field)
			held := field.Type
			if slice, ok := held.(*ast.ArrayType); ok {
				held = slice.Elt
			}
			if star, ok := held.(*ast.StarExpr); ok {
				held = star.X
			}
			if other, ok := held.(*ast.SelectorExpr); ok { // a struct of another package
				held = other.Sel
			}
			walk(typeName(held), prefix+json+".")
		}
	}
	walk(root, "")
	return names
}

// constants are the string values of the constants of a type in engine.
func (h *tree) constants(typ string) map[string]string {
	names := make(map[string]string)
	for _, f := range h.files {
		if f.test || !strings.HasPrefix(f.dir, "engine") {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || spec.Type == nil || typeName(spec.Type) != typ || len(spec.Values) != 1 {
				return true
			}
			if text := stringOf(spec.Values[0]); text != "" {
				names[text] = h.at(spec)
			}
			return true
		})
	}
	return names
}

// outcomes are the texts that the methods of Outcome return.
func (h *tree) outcomes() map[string]string {
	names := make(map[string]string)
	for _, f := range h.files {
		if f.test {
			continue
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv == nil || typeName(fn.Recv.List[0].Type) != "Outcome" {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if ret, ok := n.(*ast.ReturnStmt); ok && len(ret.Results) == 1 {
					if text := stringOf(ret.Results[0]); text != "" {
						names[text] = h.at(ret)
					}
				}
				return true
			})
		}
	}
	return names
}

// metrics are the names that engine/control describes to Prometheus. The helpers of a file put the prefix of its
// NewDesc before the first argument; a literal in place of the prefix is a whole name.
func (h *tree) metrics() map[string]string {
	names := make(map[string]string)
	for _, f := range h.files {
		if f.test ||
			!slices.Contains(slices.Collect(maps.Values(f.imports)), "github.com/prometheus/client_golang/prometheus") {
			continue
		}
		prefix := ""
		var suffixes []*ast.CallExpr
		ast.Inspect(f.ast, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || len(call.Args) < 2 {
				return true
			}
			if f.selected(call.Fun) == "github.com/prometheus/client_golang/prometheus.NewDesc" {
				if sum, ok := call.Args[0].(*ast.BinaryExpr); ok {
					prefix = stringOf(sum.X)
				} else if name := stringOf(call.Args[0]); name != "" {
					names[name] = h.at(call)
				}
			} else if helper, ok := call.Fun.(*ast.Ident); ok && hasWord("one many", helper.Name) {
				suffixes = append(suffixes, call)
			}
			return true
		})
		for _, call := range suffixes {
			names[prefix+stringOf(call.Args[0])] = h.at(call)
		}
	}
	return names
}
