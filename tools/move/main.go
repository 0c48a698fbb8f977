package main

import (
	"flag"
	"fmt"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "orbweaver"

type edit struct {
	off, end int
	text     string
}

type mover struct {
	root    string
	moved   map[string]string          // absolute file -> destination dir (relative)
	given   map[string]string          // "dir:name" or "dir:Type.name" -> new name
	locals  map[string]string          // local renames on shadowing
	names   map[string]string          // object key -> new name
	oldName map[string]string          // object key -> old name
	edits   map[string]map[int]edit    // file -> offset -> edit
	imports map[string]map[string]bool // file -> import paths needed
	notes   map[string]map[string]bool // kind -> lines
	seenKey map[string]bool            // all keys of given names that were found
	links   map[string]map[string]bool // keys that must have the same name
	pkgs    []*packages.Package
	fset    *token.FileSet
	quiet   bool
	pkgName map[string]string         // import path -> name
	order   []string                  // destinations from the bottom to the top
	deps    map[string]map[string]int // "here -> home" -> name -> count
}

func main() {
	moves := flag.String("moves", "", "dir: file file; dir: file")
	rename := flag.String("rename", "", "dir:Type.old=New,dir:old=New (dir: may be left out for source packages)")
	renames := flag.String("renames", "", "file with a rename in each line")
	local := flag.String("local", "", "name=newname for locals that shadow a package")
	dry := flag.Bool("n", false, "only report")
	tests := flag.Bool("tests", true, "move X_test.go along with X.go")
	quiet := flag.Bool("q", false, "no list of renames")
	oses := flag.String("os", "", "further GOOS, comma separated")
	flag.Parse()
	root, _ := os.Getwd()
	m := &mover{
		root:    root,
		quiet:   *quiet,
		moved:   map[string]string{},
		given:   map[string]string{},
		locals:  map[string]string{},
		names:   map[string]string{},
		oldName: map[string]string{},
		edits:   map[string]map[int]edit{},
		imports: map[string]map[string]bool{},
		notes:   map[string]map[string]bool{},
		links:   map[string]map[string]bool{},
		pkgName: map[string]string{},
		seenKey: map[string]bool{},
		deps:    map[string]map[string]int{},
	}
	from := map[string]bool{}
	for part := range strings.SplitSeq(*moves, ";") {
		dst, files, ok := strings.Cut(strings.TrimSpace(part), ":")
		if !ok {
			continue
		}
		m.order = append(m.order, module+"/"+dst)
		for f := range strings.FieldsSeq(files) {
			if !strings.Contains(f, "/") {
				f = "engine/" + f
			}
			f = strings.TrimSuffix(f, ".go")
			from[path.Dir(f)] = true
			abs := filepath.Join(root, f+".go")
			if _, err := os.Stat(abs); err != nil {
				fatal(err)
			}
			m.moved[abs] = dst
			if t := filepath.Join(root, f+"_test.go"); *tests {
				if _, err := os.Stat(t); err == nil {
					m.moved[t] = dst
				}
			}
		}
	}
	add := func(one string) {
		one = strings.TrimSpace(one)
		if one == "" || strings.HasPrefix(one, "#") {
			return
		}
		old, to, ok := strings.Cut(one, "=")
		if !ok {
			fatal(fmt.Errorf("rename %q", one))
		}
		if strings.Contains(old, ":") {
			m.given[old] = to
		} else {
			for d := range from {
				m.given[d+":"+old] = to
			}
		}
	}
	for one := range strings.SplitSeq(*rename, ",") {
		add(one)
	}
	if *renames != "" {
		b, err := os.ReadFile(*renames)
		if err != nil {
			fatal(err)
		}
		for one := range strings.Lines(string(b)) {
			add(one)
		}
	}
	for one := range strings.SplitSeq(*local, ",") {
		if old, to, ok := strings.Cut(one, "="); ok {
			m.locals[old] = to
		}
	}
	configs := []struct {
		goos  string
		tests bool
	}{{"", true}}
	for o := range strings.SplitSeq(*oses, ",") {
		if o != "" {
			configs = append(configs, struct {
				goos  string
				tests bool
			}{o, false})
		}
	}
	type load struct {
		pkgs []*packages.Package
		fset *token.FileSet
	}
	var loads []load
	for _, c := range configs {
		m.fset = token.NewFileSet()
		cfg := &packages.Config{
			Mode:       packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports,
			Dir:        root,
			Fset:       m.fset,
			Tests:      c.tests,
			BuildFlags: []string{"-tags=invariants,scenario"},
		}
		if c.goos != "" {
			cfg.Env = append(os.Environ(), "GOOS="+c.goos)
		}
		pkgs, err := packages.Load(cfg, "./...")
		if err != nil {
			fatal(err)
		}
		bad := false
		for _, p := range pkgs {
			if !strings.HasSuffix(p.PkgPath, ".test") {
				m.pkgName[p.PkgPath] = p.Name
			}
			for _, e := range p.Errors {
				if !strings.HasSuffix(p.ID, ".test") {
					fmt.Println("load:", e)
					bad = true
				}
			}
		}
		if bad {
			os.Exit(1)
		}
		loads = append(loads, load{pkgs, m.fset})
	}
	for _, l := range loads {
		m.pkgs, m.fset = l.pkgs, l.fset
		m.collect()
	}
	m.spread()
	for _, l := range loads {
		m.pkgs, m.fset = l.pkgs, l.fset
		m.rewrite()
	}
	for k := range m.given {
		if !m.seenKey[k] {
			m.note("not found", "%s", k)
		}
	}
	m.report()
	if *dry {
		return
	}
	m.apply()
}

func fatal(err error) { fmt.Println(err); os.Exit(1) }

// key is the place of declaration.

// home is the final package path of a file that is now in package pkg.

// rank is the place of a package in the order given; -1 for others, the last for where files come from.

// collect finds what is renamed.

// spread gives linked objects one name.
