package lint

import (
	"flag"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// publicNamesFile lists every name that operators and scripts rely on, beside the word that others use for it.
const publicNamesFile = "tools/lint/names.md"

var namesWrite = flag.Bool(
	"names.write", false, "add missing rows to "+publicNamesFile+", and take out those that are gone",
)

// publicNames are the names in the code, by section of publicNamesFile, with their places.
func (h *tree) publicNames() map[string]map[string]string {
	return map[string]map[string]string{
		"Commands":          h.commands(),
		"Flags":             h.flags(),
		"Control endpoints": h.literals(regexp.MustCompile(`^(GET|POST|PUT|DELETE) /`)),
		"report.json":       h.reportFields(),
		"States":            h.constants("State"),
		"Agent states":      h.constants("AgentState"),
		"Outcomes":          h.outcomes(),
		"Metrics":           h.metrics(),
	}
}

// checkPublicNames compares the tables of publicNamesFile with the names in the code, section by section.
func checkPublicNames(h *tree) (faults []string) {
	code := h.publicNames()
	if *namesWrite && h.whole {
		text := writePublicNames(h.texts[publicNamesFile], code)
		if err := os.WriteFile(filepath.Join("..", "..", publicNamesFile), []byte(text), 0o644); err != nil {
			return []string{err.Error()}
		}
		return nil
	}
	page := rowsBySection(h.texts[publicNamesFile])
	for _, section := range sorted(code) {
		for _, name := range sorted(code[section]) {
			if !page[section][name] {
				faults = append(
					faults,
					fmt.Sprintf(
						"%s: %s: %q has no row in section %q (go test ./tools/lint -names.write)", publicNamesFile, code[section][name],
						name, section,
					),
				)
			}
		}
		for _, name := range sorted(page[section]) {
			if code[section][name] == "" {
				faults = append(
					faults,
					fmt.Sprintf(
						"%s: %q of section %q is gone: take its row out (go test ./tools/lint -names.write)", publicNamesFile, name,
						section,
					),
				)
			}
		}
	}
	return faults
}

// writePublicNames returns the page with a row for each name in the code and no other, sorted. Rows keep their other
// cells, and new rows have an empty one.
func writePublicNames(page string, code map[string]map[string]string) string {
	var b strings.Builder
	section := ""
	var rows []string
	flush := func() {
		had := make(map[string]bool)
		var list []string
		for _, row := range rows {
			name := rowName(row)
			if had[name] = true; code[section] == nil || code[section][name] != "" {
				list = append(list, row)
			}
		}
		for name := range code[section] {
			if !had[name] {
				list = append(list, "| `"+name+"` |  |\n")
			}
		}
		if code[section] != nil {
			slices.SortFunc(list, func(a, b string) int { return strings.Compare(rowName(a), rowName(b)) })
		}
		b.WriteString(strings.Join(list, ""))
		rows = nil
	}
	inTable := false
	for line := range strings.Lines(page) {
		switch heading, ok := strings.CutPrefix(line, "## "); {
		case ok:
			section = strings.TrimSpace(heading)
		case strings.HasPrefix(line, "|---"):
			inTable = true
			b.WriteString(line)
			continue
		case inTable && strings.HasPrefix(line, "| `"):
			rows = append(rows, line)
			continue
		}
		if inTable {
			inTable = false
			flush()
		}
		b.WriteString(line)
	}
	if inTable {
		flush()
	}
	return b.String()
}

// rowName is the first cell of a row, without backticks.
func rowName(row string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(row, "| `"), "`")
	return name
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
		_, metric := tag.Lookup("metric") // a number of the report
		if !help || command || argument || metric {
			return
		}
		name := tag.Get("name")
		if name == "" {
			name = kebab(fieldName)
		}
		names["--"+name] = h.at(field)
	}
	// Components have flags, too.
	for _, dir := range []string{"cmd", "internal/cli", "engine", "sieve", "workbench", "dnsres"} {
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

// reportFields are the JSON names of the struct engine/operate/report.Report, and of the structs that it holds, as
// paths.
func (h *tree) reportFields() map[string]string {
	structs := make(map[string]*ast.StructType)
	files := make(map[string]*goFile)
	h.eachStruct(func(f *goFile, name string, s *ast.StructType) {
		if strings.HasPrefix(f.dir, "engine") {
			structs[f.dir+"."+name], files[f.dir+"."+name] = s, f
		}
	})
	names := make(map[string]string)
	var walk func(place, prefix string)
	walk = func(place, prefix string) {
		s := structs[place]
		if s == nil {
			return
		}
		for _, field := range s.Fields.List {
			json, _, _ := strings.Cut(tagOf(field).Get("json"), ",")
			switch {
			case len(field.Names) == 0:
				walk(files[place].typePlace(heldType(field.Type)), prefix)
			case json != "" && json != "-":
				names[prefix+json] = h.at(field)
				walk(files[place].typePlace(heldType(field.Type)), prefix+json+".")
			}
		}
	}
	walk("engine/operate/report.Report", "")
	return names
}

// heldType is the type of elements, or of what a pointer leads to, without its arguments.
func heldType(e ast.Expr) ast.Expr {
	switch e := e.(type) {
	case *ast.ArrayType:
		return heldType(e.Elt)
	case *ast.StarExpr:
		return heldType(e.X)
	case *ast.IndexExpr:
		return e.X
	}
	return e
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

// outcomes are the names in the rows of internal/outcome.
func (h *tree) outcomes() map[string]string {
	names := make(map[string]string)
	for _, f := range h.files {
		if f.test || f.dir != "internal/outcome" {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			pair, ok := n.(*ast.KeyValueExpr)
			if !ok {
				return true
			}
			if key, ok := pair.Key.(*ast.Ident); ok && key.Name == "name" {
				names[stringOf(pair.Value)] = h.at(pair)
			}
			return true
		})
	}
	return names
}

// metrics are the names that tags of fields declare (engine/operate/report.Metric), and those that
// engine/operate/control describes to Prometheus itself. The helpers of a file put the prefix of its NewDesc before the
// first argument; a literal in place of the prefix is a whole name.
func (h *tree) metrics() map[string]string {
	names := make(map[string]string)
	h.eachField("engine", func(_, _ string, tag reflect.StructTag, field *ast.Field) {
		if name := tag.Get("metric"); name != "" {
			names["orbweaver_"+name] = h.at(field)
		}
	})
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
