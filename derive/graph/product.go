package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"strings"

	"orbweaver/derive"
	"orbweaver/internal/vfs"
)

// Options of a Product.
type Options struct {
	// Dir is the directory of the outputs.
	Dir string
	// All makes the targets of links nodes, too. Default: only pages with a capture.
	All bool
	// Name of the graph. Default: the name of the crawl of the first file.
	Name string
	// Memory is how many bytes the names and arcs of one file may take before they are written, and the memory for
	// sorting domains. Default 64 MiB, at least 64 KiB.
	Memory int
}

// Product makes the graphs. It implements derive.Product.
type Product struct {
	fsys vfs.FS
	o    Options
}

// New returns a Product whose temporary files are in fsys.
func New(fsys vfs.FS, o Options) *Product {
	if o.Memory == 0 {
		o.Memory = 64 << 20
	}
	return &Product{fsys, o}
}

// Name implements derive.Product.
func (*Product) Name() string { return "graph" }

// Settings implements derive.Product.
func (p *Product) Settings() string {
	return fmt.Sprintf("1 all=%t name=%s memory=%d", p.o.All, p.o.Name, p.o.Memory)
}

// Needs implements derive.Product: whole pages are read.
func (*Product) Needs() derive.Needs { return derive.Needs{Bodies: true} }

// Open implements derive.Product.
func (p *Product) Open(source derive.Source, outputs *derive.Outputs) (derive.FileWriter, error) {
	out, err := outputs.Create(path.Join("graph", "parts", source.Stem+".runs"))
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(out, partMagic); err != nil {
		return nil, err
	}
	w := &writer{out: out, memory: p.o.Memory}
	for kind := range w.graphs {
		w.graphs[kind].seed = rand.Uint64() // so that no page can have names with equal fingerprints
	}
	return w, nil
}

// Finish implements derive.Product.
func (p *Product) Finish(ctx context.Context, files []derive.Finished, outputs *derive.Outputs) (err error) {
	b := builder{fsys: p.fsys, o: p.o, outputs: outputs, name: p.o.Name}
	if b.name == "" && len(files) > 0 {
		b.name = files[0].Crawl
	}
	var runs [kinds][]runAt
	var open []*part
	defer func() {
		for _, part := range open {
			err = errors.Join(err, part.file.Close())
		}
	}()
	for _, f := range files {
		for _, name := range f.Outputs {
			if !strings.HasSuffix(name, ".runs") {
				continue
			}
			part, err := openPart(p.fsys, path.Join(p.o.Dir, name))
			if err != nil {
				return err
			}
			open = append(open, part)
			for kind := range runs {
				runs[kind] = append(runs[kind], part.runs[kind]...)
			}
		}
	}
	return b.build(ctx, runs)
}
