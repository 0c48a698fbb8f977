package lint

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// module is the path under which our own packages are imported.
const module = "orbweaver"

// A tree is all the text of the repository, with the Go files parsed.
type tree struct {
	fset  *token.FileSet
	texts map[string]string // every text file, by its path from the root, with slashes
	files []*goFile         // the Go files of both modules, by path
	whole bool              // the real tree, so entries of the lists must match something
}

// A goFile is one parsed file.
type goFile struct {
	path    string
	dir     string // the package, as seen from the root
	test    bool
	lines   int
	ast     *ast.File
	imports map[string]string // local name to import path
}

// A rule looks at a tree and says what is wrong with it: a line for each fault, which begins with its place.
type rule struct {
	name    string
	check   func(*tree) []string
	instead string // what to write instead, unless each fault says it
}

func rules() []rule {
	return []rule{
		{"imports", checkImports, ""},
		{"network", checkNetwork, "take a fetch.Dialer or a dial function as an argument, from the engine's Seams"},
		{"goroutines", checkGoroutines, "hand the work to a loop of engine/run.go, or start and join it in Open and Close " +
			"and add the file to starters, with what waits for it"},
		{"race", checkRace, ""},
		{"queues", checkQueues, ""},
		{"budget", checkBudget, ""},
		{"promises", checkPromises, ""},
		{"decisions", checkDecisions, ""},
		{"packages", checkPackages, ""},
		{"unfinished", checkUnfinished, ""},
		{"docs", checkDocs, "name what there is"},
		{"chains", checkChains, "the chain names what does not exist"},
		{"named flags", checkNamedFlags, "name a flag that there is"},
		{"messages", checkMessages, "begin an error with the name of its own package"},
		{"words", findWords, "docs/glossary.md has the words; name the actor, then the action"},
		{"metaphors", findMetaphors, "docs/glossary.md has the term"},
		{"names", findNames, "say what the thing is or does; docs/glossary.md has the terms"},
		{"bare names", findBareNames, "a field is a noun, a function is a verb with an object"},
		{"line width", findWideLines, "break the line at 120 columns"},
		{"sentences", findLongSentences, "write two sentences; 25 words are the most"},
		{"commit subject", findLongSubjects, "72 characters are the most; the body has room"},
		{"package size", findPackageSizes, "split it, make it a file of its importer, or give a reason in packageReasons"},
		{"structs", findLargeStructs, "group fields that belong together; pass a part what it uses; a record goes into " +
			"recordStructs"},
		{"nil tests", findNilTests, "a collaborator is always there: use an implementation that does nothing"},
	}
}

// faultsMost is how many faults of a rule are printed.
const faultsMost = 50

// TestHouse holds every rule against the real tree.
func TestHouse(t *testing.T) {
	house := plant(t, readTree(t, filepath.Join("..", "..")))
	house.whole = true
	if len(house.files) < 100 {
		t.Fatalf("only %d Go files were found: the tests are not run inside the tree", len(house.files))
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			faults := r.check(house)
			for _, fault := range faults[:min(len(faults), faultsMost)] {
				t.Error(fault)
			}
			if len(faults) > 0 {
				t.Errorf("%d faults. %s", len(faults), r.instead)
			}
		})
	}
}

// built names what the Makefile writes into the root, and what is not ours.
func built(rel string) bool {
	switch rel {
	case "bin", "build", "crawl", "demo-crawl":
		return true
	}
	base := path.Base(rel)
	return base == "node_modules" || base == ".git"
}

// readTree reads every text file below root, keyed by its path with slashes.
func readTree(t *testing.T, root string) map[string]string {
	t.Helper()
	texts := make(map[string]string)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if built(rel) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || rel == ".git" { // a file where the tree is a further work tree of its repository
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) < 0 && utf8.Valid(text) {
			texts[rel] = string(text)
		} else {
			texts[rel] = "" // it exists, but has no words to look at
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// isGenerated reports whether a tool wrote a Go file. The rules are for people.
func isGenerated(text string) bool {
	return regexp.MustCompile(`^// Code generated .* DO NOT EDIT\.\n`).MatchString(text)
}

// plant parses a tree from its texts.
func plant(t *testing.T, texts map[string]string) *tree {
	t.Helper()
	h := &tree{fset: token.NewFileSet(), texts: texts}
	for _, name := range sorted(texts) {
		text := texts[name]
		if !strings.HasSuffix(name, ".go") || !h.inModule(name) || isGenerated(text) {
			continue
		}
		file, err := parser.ParseFile(h.fset, name, text, parser.ParseComments)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		h.files = append(h.files, &goFile{
			path:    name,
			dir:     path.Dir(name),
			test:    strings.HasSuffix(name, "_test.go"),
			lines:   strings.Count(text, "\n"),
			ast:     file,
			imports: importsOf(file),
		})
	}
	return h
}

// inModule reports whether the file belongs to the program or to the laboratory (bench): no testdata, no hidden
// directory, no other nested module.
func (h *tree) inModule(name string) bool {
	dir := path.Dir(name)
	for part := range strings.SplitSeq(dir, "/") {
		if part == "testdata" || part != "." && strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_") {
			return false
		}
	}
	for ; dir != "."; dir = path.Dir(dir) {
		if _, nested := h.texts[dir+"/go.mod"]; nested && dir != "bench" {
			return false
		}
	}
	return true
}

// importsOf tells under which name a file knows what it imports.
func importsOf(file *ast.File) map[string]string {
	names := make(map[string]string)
	for _, spec := range file.Imports {
		imported := strings.Trim(spec.Path.Value, `"`)
		name := packageName(imported)
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	return names
}

// packageName is the last element of an import path, or the one before it if that is a version such as v2.
func packageName(imported string) string {
	name := path.Base(imported)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = path.Base(path.Dir(imported))
	}
	return name
}

// at is the place of a node, as file:line.
func (h *tree) at(n ast.Node) string {
	p := h.fset.Position(n.Pos())
	return p.Filename + ":" + strconv.Itoa(p.Line)
}

// selected returns "path.Name" for a selector whose left side is an imported package, and "" for any other node.
func (f *goFile) selected(n ast.Node) string {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	left, ok := sel.X.(*ast.Ident)
	if !ok || left.Obj != nil { // a local variable of the same name hides the package
		return ""
	}
	imported, ok := f.imports[left.Name]
	if !ok {
		return ""
	}
	return imported + "." + sel.Sel.Name
}

// packages returns the files of each package directory.
func (h *tree) packages() map[string][]*goFile {
	byDir := make(map[string][]*goFile)
	for _, f := range h.files {
		byDir[f.dir] = append(byDir[f.dir], f)
	}
	return byDir
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// A places is a list of files, or of directories when the entry ends in a slash, each with the reason why it is there.
type places map[string]string

// find returns the entry that holds the file, or "".
func (p places) find(file string) string {
	if _, ok := p[file]; ok {
		return file
	}
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if _, ok := p[dir+"/"]; ok {
			return dir + "/"
		}
	}
	return ""
}

// onlyAt returns a fault for each node outside of the places for which find has a text, and for each file among the
// places that has no such node. Directories may be empty.
func (h *tree) onlyAt(p places, find func(*goFile, ast.Node) string) (faults []string) {
	used := make(map[string]bool)
	h.each(func(f *goFile, n ast.Node) {
		if text := find(f, n); text != "" {
			entry := p.find(f.path)
			if used[entry] = true; entry == "" {
				faults = append(faults, h.at(n)+": "+text)
			}
		}
	})
	for _, entry := range sorted(p) {
		if h.whole && !used[entry] && !strings.HasSuffix(entry, "/") {
			faults = append(faults, "tools/lint: "+entry+" no longer needs its place in the list: take the entry out")
		}
	}
	return faults
}

// each calls visit for every node of all files but tests.
func (h *tree) each(visit func(*goFile, ast.Node)) {
	for _, f := range h.files {
		if !f.test {
			ast.Inspect(f.ast, func(n ast.Node) bool {
				if n != nil {
					visit(f, n)
				}
				return true
			})
		}
	}
}

// hasWord reports whether a list of words, divided by spaces, has the word.
func hasWord(list, word string) bool {
	for w := range strings.FieldsSeq(list) {
		if w == word {
			return true
		}
	}
	return false
}
