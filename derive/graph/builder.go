package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"strconv"

	"github.com/klauspost/compress/gzip"

	"orbweaver/derive"
	"orbweaver/derive/bvgraph"
	"orbweaver/engine/page/filter"
	"orbweaver/internal/extsort"
	"orbweaver/internal/plural"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// builder makes the graphs of runs.
type builder struct {
	fsys    vfs.FS
	o       Options
	outputs *derive.Outputs
	name    string
	// members sorts the domains of hosts, and the domains, by fingerprint.
	members *extsort.Sorter
}

// Bits of the tag of an entry of members.
const (
	tagHost   = 0 // a host of the domain
	tagDomain = 1 // plus the number of the domain
)

// temporary returns the name of a temporary file.
func (b *builder) temporary(what string) string {
	return path.Join(b.o.Dir, "graph", what+vfs.TemporarySuffix)
}

func (b *builder) sorter(what string) (*extsort.Sorter, error) {
	return extsort.New(b.fsys, extsort.Options{File: b.temporary(what), MemoryBytes: b.o.Memory})
}

// build makes the three graphs.
func (b *builder) build(ctx context.Context, runs [kinds][]runAt) (err error) {
	if b.members, err = b.sorter("members"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.members.Close()) }()
	if err := b.graph(ctx, pages, runs[pages]); err != nil {
		return err
	}
	if err := b.graph(ctx, hosts, runs[hosts]); err != nil {
		return err
	}
	if err := b.graph(ctx, domains, runs[domains]); err != nil {
		return err
	}
	return b.domainVertices(ctx, runs[domains])
}

// base returns the name of the files of a graph.
func (b *builder) base(kind int) string {
	return "graph/" + b.name + [kinds]string{"", "-host", "-domain"}[kind]
}

// zipped is a compressed output.
type zipped struct {
	*gzip.Writer

	line []byte
}

func (b *builder) create(name string) (*zipped, error) {
	out, err := b.outputs.Create(name)
	if err != nil {
		return nil, err
	}
	return &zipped{Writer: gzip.NewWriter(out)}, nil
}

// graph makes one graph.
func (b *builder) graph(ctx context.Context, kind int, runs []runAt) (err error) {
	numbers, err := newNumbering(b.fsys, b.temporary("numbers"), len(runs))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, numbers.close()) }()
	what := [kinds]string{"the graph of pages", "the graph of hosts", "the graph of domains"}[kind]
	b.outputs.Step(what + ": names of " + plural.Count(len(runs), "run"))
	nodes, err := b.number(ctx, kind, runs, numbers)
	if err != nil {
		return err
	}
	arcs, err := b.sorter("arcs")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, arcs.Close()) }()
	var local []int64
	for i := range runs {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		b.outputs.Step(fmt.Sprintf("%s: arcs of run %d of %d", what, i+1, len(runs)))
		if local, err = numbers.load(local[:0], i); err != nil {
			return err
		}
		if int64(len(local)) != runs[i].names {
			return corrupt(runs[i].file, runs[i].namesAt, "%d names, not %d", len(local), runs[i].names)
		}
		err := runs[i].eachArc(func(a arc) error {
			from, to := local[a.from], local[a.to]
			if from < 0 || to < 0 {
				return nil
			}
			return arcs.Add(extsort.Entry{Hi: uint64(from), Lo: uint64(to)})
		})
		if err != nil {
			return err
		}
	}
	b.outputs.Step(fmt.Sprintf("%s: sorting %s", what, plural.Count(arcs.Len(), "arc")))
	return b.arcs(ctx, kind, nodes, arcs)
}

// number numbers the names of a graph and writes its vertices, except those of domains.
func (b *builder) number(ctx context.Context, kind int, runs []runAt, numbers *numbering) (nodes int64, err error) {
	var out *zipped
	switch kind {
	case pages:
		out, err = b.create(b.base(kind) + ".urls.gz")
	case hosts:
		out, err = b.create(b.base(kind) + "-vertices.txt.gz")
	}
	if err != nil {
		return 0, err
	}
	err = eachName(ctx, runs, func(name []byte, isStored bool, in []int) error {
		node := nodes
		if kind == pages && !b.o.All && !isStored {
			node = -1
		} else {
			nodes++
		}
		for _, run := range in {
			if err := numbers.add(run, node); err != nil {
				return err
			}
		}
		if node < 0 {
			return nil
		}
		return b.vertex(out, kind, node, name)
	})
	if err == nil && out != nil {
		err = out.Close()
	}
	return nodes, err
}

// vertex writes one vertex, and adds it to members.
func (b *builder) vertex(out *zipped, kind int, node int64, name []byte) error {
	if kind == domains {
		f := urlx.Fingerprint(0, name)
		return b.members.Add(extsort.Entry{Hi: f.Hi, Lo: f.Lo, Tag: tagDomain + uint64(node)})
	}
	out.line = out.line[:0]
	if kind == hosts {
		out.line = append(strconv.AppendInt(out.line, node, 10), '\t')
		host := urlx.AppendReversed(nil, name, '.')
		f := urlx.Fingerprint(0, urlx.AppendReversed(nil, filter.Domain(host), '.'))
		if err := b.members.Add(extsort.Entry{Hi: f.Hi, Lo: f.Lo, Tag: tagHost}); err != nil {
			return err
		}
	}
	out.line = append(append(out.line, name...), '\n')
	_, err := out.Write(out.line)
	return err
}

// domainVertices writes the vertices of the graph of domains, each with the number of its hosts.
func (b *builder) domainVertices(ctx context.Context, runs []runAt) (err error) {
	sizes, err := b.sorter("sizes")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sizes.Close()) }()
	n := uint64(0)
	for e, err := range b.members.Sorted() {
		if err != nil {
			return err
		}
		if e.Tag == tagHost {
			n++
			continue
		}
		if err := sizes.Add(extsort.Entry{Hi: e.Tag - tagDomain, Lo: n}); err != nil {
			return err
		}
		n = 0
	}
	next, stop := pull(sizes)
	defer stop()
	out, err := b.create(b.base(domains) + "-vertices.txt.gz")
	if err != nil {
		return err
	}
	err = eachName(ctx, runs, func(name []byte, _ bool, _ []int) error {
		size, err := next()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "%d\t%s\t%d\n", size.Hi, name, size.Lo)
		return err
	})
	return errors.Join(err, out.Close())
}

// arcs writes the arcs of a graph, sorted and each once: as text and as a BV graph.
func (b *builder) arcs(ctx context.Context, kind int, nodes int64, arcs *extsort.Sorter) error {
	suffix := "-edges.txt.gz"
	if kind == pages {
		suffix = ".arcs.gz"
	}
	out, err := b.create(b.base(kind) + suffix)
	if err != nil {
		return err
	}
	var files [3]io.Writer
	for i, suffix := range []string{".graph", ".offsets", ".properties"} {
		if files[i], err = b.outputs.Create(b.base(kind) + suffix); err != nil {
			return err
		}
	}
	w, err := bvgraph.NewWriter(files[0], files[1])
	if err != nil {
		return err
	}
	list := arcList{out: out, w: w}
	n := 0
	for e, err := range arcs.Sorted() {
		if err != nil {
			return err
		}
		if n++; n%4096 == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		if err := list.add(int64(e.Hi), int64(e.Lo)); err != nil {
			return err
		}
	}
	if err := list.skipTo(nodes); err != nil {
		return err
	}
	stats, err := w.Close()
	return errors.Join(err, out.Close(), stats.WriteProperties(files[2]))
}

// arcList collects the successors of one node.
type arcList struct {
	out        *zipped
	w          *bvgraph.Writer
	node       int64
	successors []int64
}

// add adds an arc. The same arc may come several times in a row.
func (l *arcList) add(from, to int64) error {
	if err := l.skipTo(from); err != nil {
		return err
	}
	if n := len(l.successors); n > 0 && l.successors[n-1] == to {
		return nil
	}
	l.successors = append(l.successors, to)
	b := append(strconv.AppendInt(l.out.line[:0], from, 10), '\t')
	l.out.line = append(strconv.AppendInt(b, to, 10), '\n')
	_, err := l.out.Write(l.out.line)
	return err
}

// skipTo completes all nodes before one.
func (l *arcList) skipTo(node int64) error {
	for ; l.node < node; l.node++ {
		if err := l.w.Add(l.successors); err != nil {
			return err
		}
		l.successors = l.successors[:0]
	}
	return nil
}

// pull returns the entries of a sorter one by one.
func pull(s *extsort.Sorter) (next func() (extsort.Entry, error), stop func()) {
	pair, stop := iter.Pull2(s.Sorted())
	return func() (extsort.Entry, error) {
		e, err, more := pair()
		if !more {
			return e, errMissing
		}
		return e, err
	}, stop
}

// errMissing says that a domain has no number of hosts.
var errMissing = errors.New("graph: a domain is missing among the sorted ones")
