package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"strconv"

	"orbweaver/derive"
	"orbweaver/derive/bvgraph"
	"orbweaver/engine/page/filter"
	"orbweaver/internal/extsort"
	"orbweaver/internal/plural"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/warc/deflate"
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

// zipped is a compressed output of lines, which are appended to text.
type zipped struct {
	zip  *deflate.GzipWriter
	text []byte
}

// linesBatch is how many bytes of lines are compressed at a time.
const linesBatch = 32 << 10

// endLine must follow each line.
func (z *zipped) endLine() error {
	z.text = append(z.text, '\n')
	if len(z.text) < linesBatch {
		return nil
	}
	return z.flush()
}

func (z *zipped) flush() error {
	_, err := z.zip.Write(z.text)
	z.text = z.text[:0]
	return err
}

func (z *zipped) close() error { return errors.Join(z.flush(), z.zip.Close()) }

func (b *builder) create(name string) (*zipped, error) {
	out, err := b.outputs.Create(name)
	if err != nil {
		return nil, err
	}
	return &zipped{zip: deflate.NewGzipWriter(out)}, nil
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
	arcs, err := newArcRuns(b.fsys, b.temporary("arcs"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, arcs.close()) }()
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
		arcs.begin()
		err := runs[i].eachArc(func(a arc) error {
			from, to := local[a.from], local[a.to]
			if from < 0 || to < 0 {
				return nil
			}
			return arcs.add(arc{uint64(from), uint64(to)})
		})
		if err != nil {
			return err
		}
	}
	b.outputs.Step(fmt.Sprintf("%s: merging %s", what, plural.Count(arcs.n, "arc")))
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
		err = out.close()
	}
	return nodes, err
}

// vertex writes one vertex, and adds it to members.
func (b *builder) vertex(out *zipped, kind int, node int64, name []byte) error {
	if kind == domains {
		f := urlx.Fingerprint(0, name)
		return b.members.Add(extsort.Entry{Hi: f.Hi, Lo: f.Lo, Tag: tagDomain + uint64(node)})
	}
	if kind == hosts {
		out.text = append(strconv.AppendInt(out.text, node, 10), '\t')
		host := urlx.AppendReversed(nil, name, '.')
		f := urlx.Fingerprint(0, urlx.AppendReversed(nil, filter.Domain(host), '.'))
		if err := b.members.Add(extsort.Entry{Hi: f.Hi, Lo: f.Lo, Tag: tagHost}); err != nil {
			return err
		}
	}
	out.text = append(out.text, name...)
	return out.endLine()
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
		out.text = fmt.Appendf(out.text, "%d\t%s\t%d", size.Hi, name, size.Lo)
		return out.endLine()
	})
	return errors.Join(err, out.close())
}

// arcs writes the arcs of a graph, sorted and each once: as text and as a BV graph.
func (b *builder) arcs(ctx context.Context, kind int, nodes int64, arcs *arcRuns) error {
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
	next := int64(0) // the node whose successors are written next
	var source []byte
	err = arcs.eachNode(ctx, func(node int64, successors []int64) error {
		if err := skip(w, &next, node); err != nil {
			return err
		}
		next++
		source = append(strconv.AppendInt(source[:0], node, 10), '\t')
		for _, to := range successors {
			out.text = strconv.AppendInt(append(out.text, source...), to, 10)
			if err := out.endLine(); err != nil {
				return err
			}
		}
		return w.Add(successors)
	})
	if err == nil {
		err = skip(w, &next, nodes)
	}
	if err != nil {
		return err
	}
	stats, err := w.Close()
	return errors.Join(err, out.close(), stats.WriteProperties(files[2]))
}

// skip writes nodes without successors from next up to a node.
func skip(w *bvgraph.Writer, next *int64, node int64) error {
	for ; *next < node; *next++ {
		if err := w.Add(nil); err != nil {
			return err
		}
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
