// Crosscheck checks the types of the program on other platforms, without building it.
//
//	go -C tools/devtools run ./crosscheck ../.. darwin/arm64 windows/amd64
//
// A build for another platform compiles the standard library and all dependencies again: two minutes of a processor.
// This reads only their declarations, and takes seconds. make cross builds for every platform.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: crosscheck DIR GOOS/GOARCH...")
		os.Exit(2)
	}
	dir, err := filepath.Abs(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := 0
	for _, platform := range os.Args[2:] {
		faults, n, err := check(dir, platform)
		for _, f := range faults {
			fmt.Printf("%s: %s\n", platform, f)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", platform, err)
		}
		if err != nil || len(faults) > 0 {
			status = 1
			continue
		}
		fmt.Printf("%s: the types of %d packages are right\n", platform, n)
	}
	os.Exit(status)
}

// check returns the type errors of the program of the module in dir, and the number of its own packages. Dependencies
// have no function bodies here, so their imports seem unused: only what go list says of them counts.
func check(dir, platform string) (faults []string, n int, err error) {
	goos, goarch, ok := strings.Cut(platform, "/")
	if !ok {
		return nil, 0, fmt.Errorf("not of the form GOOS/GOARCH")
	}
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports |
			packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax | packages.NeedTypesInfo |
			packages.NeedTypesSizes | packages.NeedModule,
		Dir: dir,
		Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch),
		ParseFile: func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
			return parse(fset, name, src, strings.HasPrefix(name, dir+string(filepath.Separator)))
		},
	}, "./cmd/orbweaver")
	if err != nil {
		return nil, 0, err
	}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		ours := p.Module != nil && p.Module.Main
		if ours {
			n++
		}
		for _, e := range p.Errors {
			if ours || e.Kind == packages.ListError {
				faults = append(faults, e.Error())
			}
		}
	})
	return faults, n, nil
}

// parse reads a file; of a dependency only the declarations.
func parse(fset *token.FileSet, name string, src []byte, ours bool) (*ast.File, error) {
	f, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
	if err != nil || ours {
		return f, err
	}
	for _, d := range f.Decls {
		if fn, is := d.(*ast.FuncDecl); is {
			fn.Body = nil
		}
	}
	return f, nil
}
