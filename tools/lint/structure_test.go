package lint

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

const (
	packageFilesMost = 30
	packageLinesMost = 4100
	engineFilesMost  = 12 // package engine is wiring alone
	engineLinesMost  = 1500
	structFieldsMost = 20
	typeMethodsMost  = 25
	typeFilesMost    = 4
)

// recordStructs are written out whole, so their fields are a list and not a design.
var recordStructs = map[string]string{
	"bench/simweb/judge.Verdict":        "the verdict, as JSON",
	"derive/columns.Row":                "a row of Common Crawl's table",
	"bench/agents.Run":                  "one run of the benchmark of agents, as JSON",
	"bench/throughput.SweepCrawl":       "one crawl of a sweep, as JSON",
	"engine/operate/report.Report":      "report.json",
	"engine/state/cluster.StatusReport": "the part of report.json about other agents",
	"engine/state/counters.Set":         "the counters of the manifest",
	"engine/state/counters.Reported":    "the counters of report.json",
	"engine/store/manifest.Manifest":    "the manifest",
	"engine.Config":                     "the options of all components, one field each",
}

// A packageSize measures a package without its tests.
type packageSize func(files []*goFile) (size, most int, unit string)

func packageFiles(files []*goFile) (size, most int, unit string) {
	return len(files), mostOf(files, packageFilesMost, engineFilesMost), "files"
}

func packageLines(files []*goFile) (size, most int, unit string) {
	for _, f := range files {
		size += f.lines
	}
	return size, mostOf(files, packageLinesMost, engineLinesMost), "lines"
}

// mostOf is the limit of a package; package engine has its own.
func mostOf(files []*goFile, general, ofEngine int) int {
	if len(files) > 0 && files[0].dir == "engine" {
		return ofEngine
	}
	return general
}

func findLargePackages(measure packageSize) func(*tree) []finding {
	return func(h *tree) (findings []finding) {
		byDir := h.packages()
		for _, dir := range sorted(byDir) {
			product := slices.DeleteFunc(slices.Clone(byDir[dir]), func(f *goFile) bool { return f.test })
			if size, most, unit := measure(product); size > most {
				findings = append(findings, finding{dir, dir, fmt.Sprintf("%d %s, at most %d", size, unit, most), size})
			}
		}
		return findings
	}
}

func findLargeStructs(h *tree) (findings []finding) {
	used := make(map[string]bool)
	h.eachStruct(func(f *goFile, name string, s *ast.StructType) {
		fields := 0
		for _, field := range s.Fields.List {
			fields += max(len(field.Names), 1)
		}
		place := f.dir + "." + name
		switch _, record := recordStructs[place]; {
		case fields <= structFieldsMost:
		case record:
			used[place] = true
		default:
			findings = append(
				findings,
				finding{place, h.at(s), fmt.Sprintf("%d fields, at most %d", fields, structFieldsMost), fields},
			)
		}
	})
	for _, place := range sorted(recordStructs) {
		if h.whole && !used[place] {
			findings = append(
				findings,
				finding{
					"tools/lint",
					"tools/lint",
					"recordStructs names " + place + ", which is gone or small enough: take it out",
					1,
				},
			)
		}
	}
	return findings
}

// eachStruct calls visit for every named struct type that is not of a test.
func (h *tree) eachStruct(visit func(f *goFile, name string, s *ast.StructType)) {
	for _, f := range h.files {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			if s, ok := spec.Type.(*ast.StructType); ok {
				visit(f, spec.Name.Name, s)
			}
			return true
		})
	}
}

// methodSet is what a package says of one of its types.
type methodSet struct {
	methods int
	files   []string
}

func methodCount(m methodSet) (size, most int, unit string) {
	return m.methods, typeMethodsMost, "methods"
}

func fileCount(m methodSet) (size, most int, unit string) {
	return len(m.files), typeFilesMost, "files with methods"
}

func findLargeTypes(measure func(methodSet) (size, most int, unit string)) func(*tree) []finding {
	return func(h *tree) (findings []finding) {
		types := make(map[string]methodSet)
		for _, f := range h.files {
			if f.test || !isPortable(f.path) {
				continue
			}
			for _, decl := range f.ast.Decls {
				fn, ok := decl.(*ast.FuncDecl)
				if !ok || fn.Recv == nil || len(fn.Recv.List) == 0 {
					continue
				}
				place := f.dir + "." + typeName(fn.Recv.List[0].Type)
				m := types[place]
				m.methods++
				if !slices.Contains(m.files, path.Base(f.path)) {
					m.files = append(m.files, path.Base(f.path))
				}
				types[place] = m
			}
		}
		for _, place := range sorted(types) {
			if size, most, unit := measure(types[place]); size > most {
				findings = append(findings, finding{place, place, fmt.Sprintf("%d %s, at most %d", size, unit, most), size})
			}
		}
		return findings
	}
}

// isPortable reports whether a file belongs to the build for Linux: of the variants of a file one counts.
func isPortable(name string) bool {
	base := strings.TrimSuffix(path.Base(name), ".go")
	for _, suffix := range []string{"_other", "_windows", "_nolinux", "_off"} {
		if strings.HasSuffix(base, suffix) {
			return false
		}
	}
	return true
}

// findPointerCycles finds groups of more than two struct types of a package, where each reaches all others through
// fields.
func findPointerCycles(h *tree) (findings []finding) {
	byDir := h.packages()
	for _, dir := range sorted(byDir) {
		graph := referenceGraph(byDir[dir])
		for _, group := range components(graph) {
			if len(group) <= 2 {
				continue
			}
			slices.Sort(group)
			for _, name := range group {
				findings = append(findings, finding{dir, dir + "." + name, "in a cycle: " + strings.Join(group, " "), 1})
			}
		}
	}
	return findings
}

// referenceGraph says which struct types of a package hold which others: by value or pointer, in slices, maps, channels
// and type arguments, and through named types that are no structs. Functions and interfaces end a path.
func referenceGraph(files []*goFile) map[string][]string {
	specs := make(map[string]ast.Expr)
	for _, f := range files {
		if f.test || !isPortable(f.path) {
			continue
		}
		for _, decl := range f.ast.Decls {
			if gen, ok := decl.(*ast.GenDecl); ok {
				for _, spec := range gen.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						specs[t.Name.Name] = t.Type
					}
				}
			}
		}
	}
	graph := make(map[string][]string)
	for name, expr := range specs {
		if _, ok := expr.(*ast.StructType); !ok {
			continue
		}
		seen := make(map[string]bool)
		var follow func(e ast.Expr)
		follow = func(e ast.Expr) {
			ast.Inspect(e, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncType, *ast.InterfaceType, *ast.SelectorExpr:
					return false
				case *ast.Field:
					follow(n.Type) // not the names
					return false
				case *ast.Ident:
					target, ok := specs[n.Name]
					if !ok || seen[n.Name] {
						return true
					}
					seen[n.Name] = true
					if _, ok := target.(*ast.StructType); ok {
						graph[name] = append(graph[name], n.Name)
					} else {
						follow(target)
					}
				}
				return true
			})
		}
		follow(expr)
	}
	return graph
}

// components are the strongly connected components of a graph (Tarjan 1972).
func components(graph map[string][]string) (groups [][]string) {
	index := make(map[string]int)
	low := make(map[string]int)
	onStack := make(map[string]bool)
	var stack []string
	var visit func(v string)
	visit = func(v string) {
		index[v] = len(index) + 1
		low[v] = index[v]
		stack = append(stack, v)
		onStack[v] = true
		for _, w := range graph[v] {
			if index[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if onStack[w] {
				low[v] = min(low[v], index[w])
			}
		}
		if low[v] != index[v] {
			return
		}
		at := slices.Index(stack, v)
		group := slices.Clone(stack[at:])
		stack = stack[:at]
		for _, w := range group {
			onStack[w] = false
		}
		groups = append(groups, group)
	}
	for _, v := range sorted(graph) {
		if index[v] == 0 {
			visit(v)
		}
	}
	return groups
}
