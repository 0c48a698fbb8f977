package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"strings"
)

// globalTables are the package variables that are tables or compiled patterns, made once and only read. The rule makes
// sure that no code of their package assigns to them. Everything else that lives as long as the process belongs to the
// value that was opened, or is a const.
var globalTables = map[string]string{
	"bench/completeness.embedOf":             "a pattern",
	"bench/completeness.linkOf":              "a pattern",
	"internal/golden.write":                  "a flag, which package flag sets",
	"engine/operate/logreport.definitions":   "the reports there are",
	"engine/operate/reportpage.files":        "its template, embedded",
	"engine/traps/novelty.byteClasses":       "which bytes make words",
	"engine/state/counters.mediaTypes":       "media types with a counter of their own",
	"engine/state/counters.typeNumbers":      "their numbers",
	"tools/skeleton.word":                    "a pattern",
	"bench/hostile.Catalogue":                "the cases there are",
	"bench/hostile.Families":                 "what the letters of the cases stand for",
	"bench/hostile.dottedURLs":               "what U03 links to",
	"bench/hostile.foreignLinks":             "what P05 links to",
	"bench/hostile.foreignLocations":         "what R05 redirects to",
	"bench/hostile.liarBodies":               "the pages of P08",
	"bench/hostile.liarTypes":                "and what they are called",
	"bench/hostile.longURLs":                 "what U01 links to",
	"bench/hostile.moved":                    "the statuses of R07",
	"bench/hostile.nested":                   "the pages of P01",
	"bench/hostile.oddLocations":             "what R04 redirects to",
	"bench/hostile.unclosed":                 "the pages of P02",
	"bench/scenario/testbed.FirstSeed":       "a flag, which package flag sets",
	"bench/scenario/testbed.SeedCount":       "a flag, which package flag sets",
	"bench/throughput.words":                 "the words of fabricated paths",
	"cmd/orbweaver.commit":                   "set by the linker",
	"cmd/orbweaver.version":                  "set by the linker",
	"internal/outcome.descriptions":          "the row of each outcome",
	"engine/operate/control/dashboard.files": "files that are embedded",
	"warc/replay.files":                      "as above",
	"warc/replay.targetForm":                 "an expression that is only read",
	"warc/replay.bar":                        "a template that is only read",
	"engine/page/pdflinks.class":             "classes of octets",
	"engine/page/parse.alphabets":            "commonest letters by character set",
	"engine/page/parse.c1Controls":           "what the C1 numbers mean in references",
	"engine/page/parse.attrTable":            "names of attributes",
	"engine/page/parse.class":                "classes of octets",
	"engine/page/parse.feedRoots":            "root elements of feeds and sitemaps",
	"engine/page/parse.htmlMarks":            "first octets of HTML",
	"engine/page/parse/script.class":         "classes of octets",
	"engine/page/parse.signatures":           "first octets of media types",
	"engine/page/parse.latin1":               "names of the Latin-1 references",
	"engine/page/parse.legacyReferences":     "references that need no semicolon",
	"engine/page/parse.lower":                "lower case by octet",
	"engine/page/parse.wideCodings":          "how East Asia's character sets are built",
	"engine/net/robots.classes":              "classes of octets",
	"engine/net/robots.faultTexts":           "what is said of each fault",
	"internal/mediatype.tokens":              "classes of octets",
	"internal/urlx.hostProfile":              "the IDNA profile",
	"internal/urlx.octets":                   "classes of octets",
	"tools/realsite.cssPart":                 "a pattern",
	"tools/realsite.files":                   "files that are embedded",
	"tools/realsite.gitLink":                 "a pattern",
	"tools/realsite.isPart":                  "a pattern",
	"tools/realsite.leadingBackslash":        "a pattern",
	"tools/realsite.reference":               "a pattern",
	"tools/realsite.release":                 "a pattern",
	"tools/realsite.sortOrder":               "a pattern",
	"tools/realsite.underline":               "a pattern",
	"internal/urlx.pathSessions":             "patterns of session identifiers",
	"internal/urlx.querySessions":            "patterns of session identifiers",
	"tools/hostile.open":                     "cases not proven, and why",
	"tools/hostile.testName":                 "pattern of the names of tests",
}

func checkGlobals(h *tree) (faults []string) {
	found := make(map[string]bool)
	for _, f := range h.files {
		if f.test {
			continue
		}
		for _, decl := range f.ast.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
				faults = append(
					faults,
					h.at(fn)+": func init works behind the reader's back: do it in Open, or compute the table in its declaration",
				)
			}
			gen, ok := decl.(*ast.GenDecl)
			if !ok || gen.Tok != token.VAR {
				continue
			}
			for _, spec := range gen.Specs {
				faults = append(faults, globalFaults(h, f, spec.(*ast.ValueSpec), found)...)
			}
		}
	}
	for _, f := range h.files {
		faults = append(faults, writesToGlobals(h, f, found)...)
	}
	for _, key := range sorted(globalTables) {
		if h.whole && !found[key] {
			faults = append(faults, "tools/lint: globalTables names "+key+", which is gone: take it out")
		}
	}
	return faults
}

// globalFaults judges one declaration, and notes in found what must not be written to.
func globalFaults(h *tree, f *goFile, spec *ast.ValueSpec, found map[string]bool) (faults []string) {
	for i, name := range spec.Names {
		if name.Name == "_" {
			continue // an assertion about interfaces, or the use of an import
		}
		key := f.dir + "." + name.Name
		found[key] = true
		if _, ok := globalTables[key]; ok {
			continue
		}
		if i < len(spec.Values) && isSentinel(f, spec.Values[i]) {
			continue
		}
		faults = append(
			faults,
			fmt.Sprintf(
				"%s: package variable %s: make it a const, or a field of the value that is opened; if it is a table that is only "+
					"read, name it in globalTables of tools/lint/globals_test.go",
				h.at(name), name.Name,
			),
		)
	}
	return faults
}

// isSentinel reports whether the value is an error made for comparing.
func isSentinel(f *goFile, value ast.Expr) bool {
	call, ok := value.(*ast.CallExpr)
	if !ok {
		return false
	}
	name := f.selected(call.Fun)
	return name == "errors.New" || name == "fmt.Errorf"
}

// writesToGlobals finds assignments to package variables, their fields and elements, and addresses taken of them, in
// the code and the tests of their package.
func writesToGlobals(h *tree, f *goFile, globals map[string]bool) (faults []string) {
	report := func(n ast.Node, target ast.Expr) {
		root := rootOf(target)
		if root == nil || !globals[f.dir+"."+root.Name] || isLocal(f, root) {
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
