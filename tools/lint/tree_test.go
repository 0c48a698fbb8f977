package lint

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
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
	files []*goFile         // the Go files of the main module, by path
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

// A rule looks at a tree and says what is wrong with it, one sentence for each fault.
type rule struct {
	name  string
	check func(*tree) []string
}

func rules() []rule {
	return []rule{
		{"imports", checkImports},
		{"network", checkNetwork},
		{"goroutines", checkGoroutines},
		{"race", checkRace},
		{"queues", checkQueues},
		{"globals", checkGlobals},
		{"budget", checkBudget},
		{"promises", checkPromises},
		{"decisions", checkDecisions},
		{"packages", checkPackages},
		{"engine", checkEngine},
		{"words", checkWords},
		{"docs", checkDocs},
		{"chains", checkChains},
		{"named flags", checkNamedFlags},
		{"messages", checkMessages},
	}
}

// TestHouse holds every rule against the real tree.
func TestHouse(t *testing.T) {
	house := plant(t, readTree(t, filepath.Join("..", "..")))
	house.whole = true
	if len(house.files) < 100 {
		t.Fatalf("only %d Go files were found: the tests are not run inside the tree", len(house.files))
	}
	for _, r := range rules() {
		t.Run(r.name, func(t *testing.T) {
			for _, fault := range r.check(house) {
				t.Error(fault)
			}
		})
	}
	t.Run("findings", func(t *testing.T) { testFindings(t, house) })
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

// inModule reports whether the go command would see the file: no testdata, no hidden directory, no nested module.
func (h *tree) inModule(name string) bool {
	dir := path.Dir(name)
	for part := range strings.SplitSeq(dir, "/") {
		if part == "testdata" || part != "." && strings.HasPrefix(part, ".") || strings.HasPrefix(part, "_") {
			return false
		}
	}
	for ; dir != "."; dir = path.Dir(dir) {
		if _, nested := h.texts[dir+"/go.mod"]; nested {
			return false
		}
	}
	return true
}

// importsOf tells under which name a file knows what it imports.
func importsOf(file *ast.File) map[string]string {
	names := make(map[string]string)
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		name := path.Base(imported)
		if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
			name = path.Base(path.Dir(imported)) // .../v2 is named after the element before it
		}
		if spec.Name != nil {
			name = spec.Name.Name
		}
		names[name] = imported
	}
	return names
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

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

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

// unused returns a fault for each file of the list that was not needed. Directories may be empty.
func (h *tree) unused(p places, used map[string]bool, list string) (faults []string) {
	if !h.whole {
		return nil
	}
	for _, entry := range sorted(p) {
		if !used[entry] && !strings.HasSuffix(entry, "/") {
			faults = append(faults, "tools/lint: "+entry+" no longer needs its place in "+list+": take the entry out")
		}
	}
	return faults
}
