package lint

import (
	"fmt"
	"go/ast"
	"go/token"
	"regexp"
	"strings"
)

// promises are the numbered promises of the house and the room that gives each. A promise is a sentence in the room's
// doc.go (or in the comment of the type that keeps it), is cited where the code relies on it or checks it, and has a
// test Test<id>_... in the room, or in bench/scenario where the whole engine runs.
var promises = []struct{ id, room string }{
	{"W1", "workbench"}, {"W2", "workbench"}, {"W3", "workbench"}, {"W4", "workbench"}, {"W5", "workbench"},
	{"H1", "workbench/cold"}, {"H2", "workbench/cold"}, {"H3", "workbench/cold"}, {"H4", "workbench/cold"},
	{"S1", "sieve"}, {"S2", "sieve"}, {"S3", "sieve"}, {"S4", "sieve"}, {"S5", "sieve"},
	{"V1", "virtualize"}, {"V2", "virtualize"}, {"V3", "virtualize"},
	{"D1", "dnsres"},
	{"A1", "warc"}, {"A2", "warc"},
	{"B1", "engine/net/fetch"},
	{"O1", "engine/peering/ring"}, {"O2", "engine/peering/ring"}, {"O3", "engine/peering/ring"},
	{"O4", "engine/peering/ring"},
	{"M1", "engine/peering/membership"}, {"M2", "engine/peering/membership"}, {"M3", "engine/peering/membership"},
	{"M4", "engine/peering/membership"}, {"M5", "engine/peering/membership"}, {"M6", "engine/peering/membership"},
	{"M7", "engine/peering/membership"},
	{"F1", "engine/cluster/leasing"}, {"F2", "engine/cluster/leasing"}, {"F3", "engine/cluster/leasing"},
	{"F4", "engine/cluster/leasing"},
	{"K1", "engine/peering/outbox"}, {"K2", "engine/peering/outbox"}, {"K3", "engine/peering/outbox"},
	{"K4", "engine/peering/outbox"},
	{"E1", "engine"},
}

// testNameID finds the id that a test's name begins with. Ids of promises have one digit; those with two name a case of
// a catalogue.
func testNameID(name string) string {
	m := regexp.MustCompile(`^Test([A-Z]\d)_`).FindStringSubmatch(name)
	if m == nil {
		return ""
	}
	return m[1]
}

func checkPromises(h *tree) (faults []string) {
	for _, p := range promises {
		explained, cited, tested, exists := false, false, false, false
		id := regexp.MustCompile(`\b` + p.id + `\b`)
		for _, f := range h.files {
			in := f.dir == p.room || strings.HasPrefix(f.dir, p.room+"/")
			exists = exists || in
			if in && !f.test {
				docs := docTexts(f)
				explained = explained || matchAny(id, docs)
				cited = cited || matchAny(id, citations(f))
			}
			if in || strings.HasPrefix(f.dir, "bench/scenario/") {
				tested = tested || hasTest(f, p.id)
			}
		}
		if !exists && !h.whole {
			continue
		}
		if !explained {
			faults = append(
				faults, fmt.Sprintf("%s: promise %s is not explained: write its sentence into %s/doc.go", p.room, p.id, p.room),
			)
		}
		if !cited {
			faults = append(
				faults,
				fmt.Sprintf("%s: promise %s is cited nowhere in code: name it where it is checked or relied on", p.room, p.id),
			)
		}
		if !tested {
			faults = append(
				faults, fmt.Sprintf("%s: promise %s has no test: write one whose name begins with Test%s_", p.room, p.id, p.id),
			)
		}
	}
	return append(faults, unexplainedTests(h)...)
}

// docTexts are the comments that are documentation: of the package, and of what it declares.
func docTexts(f *goFile) (texts []string) {
	add := func(g *ast.CommentGroup) {
		if g != nil {
			texts = append(texts, g.Text())
		}
	}
	add(f.ast.Doc)
	for _, decl := range f.ast.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			add(d.Doc)
		case *ast.GenDecl:
			add(d.Doc)
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					add(t.Doc)
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

func matchAny(re *regexp.Regexp, texts []string) bool {
	for _, text := range texts {
		if re.MatchString(text) {
			return true
		}
	}
	return false
}

func hasTest(f *goFile, id string) bool {
	if !f.test {
		return false
	}
	for _, decl := range f.ast.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && testNameID(fn.Name.Name) == id {
			return true
		}
	}
	return false
}

// unexplainedTests finds tests named after a promise that no package explains.
func unexplainedTests(h *tree) (faults []string) {
	explained := make(map[string]bool)
	ids := regexp.MustCompile(`\b[A-Z]\d\b`)
	for _, f := range h.files {
		if f.test {
			continue
		}
		for _, text := range docTexts(f) {
			for _, id := range ids.FindAllString(text, -1) {
				explained[id] = true
			}
		}
	}
	for _, f := range h.files {
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || !f.test || fn.Recv != nil {
				continue
			}
			if id := testNameID(fn.Name.Name); id != "" && !explained[id] {
				faults = append(
					faults, fmt.Sprintf("%s: %s is named after promise %s, which no doc.go explains", h.at(fn), fn.Name.Name, id),
				)
			}
		}
	}
	return faults
}
