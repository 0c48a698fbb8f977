package lint

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
)

const (
	packageLinesMost  = 6000
	packageLinesLeast = 150 // of a package with one importer: below it is a file of the importer
	engineLinesMost   = 1600
	fieldsMost        = 25 // of a struct, those of embedded structs counted
	collaboratorsMost = 10 // pointers and interfaces of other packages in a struct
)

// packageReasons are the packages beyond these limits, and why.
var packageReasons = map[string]string{
	"derive/derivetest":                    "a test kit",
	"engine/peering/transport/transportpb": "generated code",
}

// recordStructs are written out whole, so their fields are a list and not a design. So are the flags of commands.
var recordStructs = map[string]string{
	"internal/simweb/judge.Verdict":     "the verdict, as JSON",
	"derive/columns.Row":                "a row of Common Crawl's table",
	"bench/agents.Run":                  "one run of the benchmark of agents, as JSON",
	"bench/throughput.Result":           "one crawl with all measurements, as JSON",
	"bench/throughput.SweepCrawl":       "one crawl of a sweep, as JSON",
	"engine/operate/report.Report":      "report.json",
	"engine/operate/control.Status":     "report.json with an estimate, as JSON",
	"engine/state/cluster.StatusReport": "the part of report.json about other agents",
	"engine/state/counters.Set":         "the counters of the manifest",
	"engine/state/counters.Reported":    "the counters of report.json",
	"engine/store/manifest.Manifest":    "the manifest",
	"engine.Config":                     "the options of all components, one field each",
	"internal/simweb.Config":            "options",
	"internal/simweb.Faults":            "options",
	"engine/page/filter.scoreFacts":     "the names that --score knows",
	"engine/durable/inspect.Checkpoint": "a checkpoint as a record",
	"engine/state/attempt.Attempt":      "what is known of an attempt, as a record",
	"engine/state/counters.Live":        "counters",
}

func findPackageSizes(h *tree) (faults []string) {
	importers := make(map[string]map[string]bool)
	for _, f := range h.files {
		for _, imported := range f.imports {
			target := strings.TrimPrefix(imported, module+"/")
			if importers[target] == nil {
				importers[target] = make(map[string]bool)
			}
			importers[target][f.dir] = importers[target][f.dir] || !f.test && f.dir != target
		}
	}
	byDir := h.packages()
	for _, dir := range sorted(byDir) {
		lines, most, others := 0, packageLinesMost, 0
		if dir == "engine" {
			most = engineLinesMost
		}
		for _, f := range byDir[dir] {
			if !f.test {
				lines += f.lines
			}
		}
		for _, counts := range importers[dir] {
			if counts {
				others++
			}
		}
		_, hasReason := packageReasons[dir]
		switch {
		case hasReason:
		case lines > most:
			faults = append(faults, fmt.Sprintf("%s: %d lines, at most %d", dir, lines, most))
		case lines < packageLinesLeast && others == 1:
			faults = append(faults, fmt.Sprintf("%s: %d lines for one importer", dir, lines))
		}
	}
	return faults
}

// structExcess are the structs beyond the limits that are still to be divided: their fields and collaborators of today.
// A number may only fall.
var structExcess = map[string]struct{ fields, others int }{
	"engine/check/gaps.reader":        {27, 0},
	"engine/operate/changes.Settings": {27, 0},
	"engine/operate/operator.Parts":   {0, 14},
	"engine/operate/report.Collector": {0, 12},
	"engine/store/crawllog.Log":       {28, 0},
}

// findLargeStructs measures the fields of each struct and those that it embeds.
func findLargeStructs(h *tree) (faults []string) {
	structs, interfaces := h.types()
	for _, place := range sorted(structs) {
		s, excess := structs[place], structExcess[place]
		if _, record := recordStructs[place]; record || strings.HasPrefix(place, "cmd/") ||
			strings.HasPrefix(place, "bench/cmd/") {
			continue
		}
		if n := structs.fields(s); n > max(fieldsMost, excess.fields) {
			faults = append(faults, fmt.Sprintf("%s: %s has %d fields, at most %d", h.at(s.node), place, n, fieldsMost))
		}
		others := make(map[string]bool)
		structs.collaborators(s, interfaces, others)
		if n := len(others); n > max(collaboratorsMost, excess.others) && !isWiring(place) {
			faults = append(faults, fmt.Sprintf("%s: %s has %d collaborators, at most %d", h.at(s.node), place, n,
				collaboratorsMost))
		}
	}
	return faults
}

// isWiring reports whether the struct is there to join the parts of a crawl or of a program.
func isWiring(place string) bool {
	return strings.HasPrefix(place, "engine.") || strings.HasPrefix(place, "engine/cluster/agent.") ||
		strings.HasPrefix(place, "engine/durable/storage.") || strings.HasPrefix(place, "cmd/") ||
		strings.HasPrefix(place, "bench/")
}

// A structType is a struct with its name.
type structType struct {
	file *goFile
	node *ast.StructType
}

// structTypes are those of all packages, by directory and name.
type structTypes map[string]structType

// types collects the structs and the interfaces of all packages.
func (h *tree) types() (structs structTypes, interfaces map[string]bool) {
	structs, interfaces = make(structTypes), make(map[string]bool)
	h.each(func(f *goFile, n ast.Node) {
		if spec, ok := n.(*ast.TypeSpec); ok && isPortable(f.path) {
			place := f.dir + "." + spec.Name.Name
			switch t := spec.Type.(type) {
			case *ast.StructType:
				structs[place] = structType{f, t}
			case *ast.InterfaceType:
				interfaces[place] = true
			}
		}
	})
	return structs, interfaces
}

// placeOf is the directory and name of a type that an expression names, and whether it is of another package.
func placeOf(f *goFile, e ast.Expr) (place string, isOther bool) {
	switch e := e.(type) {
	case *ast.StarExpr:
		return placeOf(f, e.X)
	case *ast.IndexExpr:
		return placeOf(f, e.X)
	case *ast.Ident:
		return f.dir + "." + e.Name, false
	case *ast.SelectorExpr:
		return strings.TrimPrefix(f.selected(e), module+"/"), true
	}
	return "", false
}

func (t structTypes) fields(s structType) (n int) {
	for _, field := range s.node.Fields.List {
		if place, _ := placeOf(s.file, field.Type); len(field.Names) == 0 {
			if embedded, ok := t[place]; ok {
				n += t.fields(embedded)
				continue
			}
		}
		n += max(len(field.Names), 1)
	}
	return n
}

// collaborators adds the pointers and interfaces of other packages of ours.
func (t structTypes) collaborators(s structType, interfaces, others map[string]bool) {
	for _, field := range s.node.Fields.List {
		place, isOther := placeOf(s.file, field.Type)
		_, isPointer := field.Type.(*ast.StarExpr)
		_, isOurs := t[place]
		if isOther && (isPointer && isOurs || interfaces[place]) {
			others[place] = true
		}
		if embedded, ok := t[place]; ok && len(field.Names) == 0 {
			t.collaborators(embedded, interfaces, others)
		}
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
