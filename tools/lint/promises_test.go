package lint

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
)

// promises are the numbered promises and the package that gives each. A promise is a sentence in the package's doc.go
// (or in the comment of the type that keeps it), is cited where the code relies on it or checks it, and has a test
// Test<id>_... in the package, or in bench/scenario where the whole engine runs.
var promises = map[string]string{
	"workbench":                 "W1 W2 W3 W4 W5",
	"workbench/cold":            "H1 H2 H3 H4",
	"sieve":                     "S1 S2 S3 S4 S5",
	"virtualize":                "V1 V2 V3",
	"dnsres":                    "D1",
	"warc":                      "A1 A2",
	"engine/net/fetch":          "B1",
	"engine/peering/ring":       "O1 O2 O3 O4",
	"engine/peering/membership": "M1 M2 M3 M4 M5 M6 M7",
	"engine/cluster/leasing":    "F1 F2 F3 F4",
	"engine/peering/outbox":     "K1 K2 K3 K4",
	"engine":                    "E1",
}

func checkPromises(h *tree) (faults []string) {
	for _, room := range sorted(promises) {
		for id := range strings.FieldsSeq(promises[room]) {
			faults = append(faults, h.checkPromise(room, id)...)
		}
	}
	return append(append(faults, unexplainedTests(h)...), sharedPromises(h)...)
}

func (h *tree) checkPromise(dir, id string) (faults []string) {
	explained, cited, tested, exists := false, false, false, false
	pattern := regexp.MustCompile(`\b` + id + `\b`)
	for _, f := range h.files {
		in := f.dir == dir || strings.HasPrefix(f.dir, dir+"/")
		exists = exists || in
		if in && !f.test {
			explained = explained || slices.ContainsFunc(docTexts(f), pattern.MatchString)
			cited = cited || slices.ContainsFunc(citations(f), pattern.MatchString)
		}
		if in || strings.HasPrefix(f.dir, "bench/scenario/") {
			tested = tested || slices.ContainsFunc(testsOf(f), func(fn *ast.FuncDecl) bool { return promiseOf(fn) == id })
		}
	}
	for fault, isFine := range map[string]bool{
		"is not explained: write its sentence into " + dir + "/doc.go":       explained,
		"is cited nowhere in code: name it where it is checked or relied on": cited,
		"has no test: write one whose name begins with Test" + id + "_":      tested,
	} {
		if !isFine && (exists || h.whole) {
			faults = append(faults, dir+": promise "+id+" "+fault)
		}
	}
	return faults
}

// testsOf are the tests of a file.
func testsOf(f *goFile) (tests []*ast.FuncDecl) {
	for _, decl := range f.ast.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && f.test && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, "Test") {
			tests = append(tests, fn)
		}
	}
	return tests
}

// promiseOf is the id that a test's name begins with. Ids of promises have one digit; those with two name a case of a
// catalogue.
func promiseOf(test *ast.FuncDecl) string {
	if m := regexp.MustCompile(`^Test([A-Z]\d)_`).FindStringSubmatch(test.Name.Name); m != nil {
		return m[1]
	}
	return ""
}

// docTexts are the comments that are documentation: of the package, and of what it declares.
func docTexts(f *goFile) (texts []string) {
	texts = append(texts, f.ast.Doc.Text()) // "" without one
	for _, decl := range f.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			texts = append(texts, d.Doc.Text())
		case *ast.GenDecl:
			texts = append(texts, d.Doc.Text())
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					texts = append(texts, t.Doc.Text())
				}
			}
		}
	}
	return texts
}

// citations are the places where code can name a promise: string literals, and comments other than the package's page.
func citations(f *goFile) (texts []string) {
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			texts = append(texts, lit.Value)
		}
		return true
	})
	for _, group := range f.ast.Comments {
		if group != f.ast.Doc {
			texts = append(texts, group.Text())
		}
	}
	return texts
}

// unexplainedTests finds tests named after a promise that no package explains.
func unexplainedTests(h *tree) (faults []string) {
	explained := make(map[string]bool)
	ids := regexp.MustCompile(`\b[A-Z]\d\b`)
	for _, f := range h.files {
		if !f.test {
			for _, id := range ids.FindAllString(strings.Join(docTexts(f), "\n"), -1) {
				explained[id] = true
			}
		}
	}
	for _, f := range h.files {
		for _, fn := range testsOf(f) {
			if id := promiseOf(fn); id != "" && !explained[id] {
				faults = append(faults, h.at(fn)+": "+fn.Name.Name+" is named after promise "+id+", which no doc.go explains")
			}
		}
	}
	return faults
}

// sharedPromises finds promises of a package whose id another package gives to a promise of its own.
func sharedPromises(h *tree) (faults []string) {
	id := regexp.MustCompile(`(?m)^\s*(?:- )?([A-Z]\d): `)
	first := make(map[string]string) // by id
	for _, f := range h.files {
		if f.test || path.Base(f.path) != "doc.go" || f.ast.Doc == nil {
			continue
		}
		for _, m := range id.FindAllStringSubmatch(f.ast.Doc.Text(), -1) {
			if other, isTaken := first[m[1]]; isTaken && other != f.dir {
				faults = append(faults, f.path+": "+m[1]+" is a promise of "+other+" and "+f.dir+": take a free letter")
			}
			first[m[1]] = f.dir
		}
	}
	return faults
}
