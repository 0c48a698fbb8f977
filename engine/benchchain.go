package engine

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"orbweaver/engine/site"
	"orbweaver/engine/visit"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
)

// benchChain is the bench on disk, as a manifest names it: a whole image, and what has changed since, in order.
type benchChain []benchFile

type benchFile struct {
	Generation uint64 `json:"generation"`
	Length     int64  `json:"length"`
}

// benchChainMax bounds how many files a resume reads.
const benchChainMax = 128

// grown says that the changes have become as large as the image they change: it is time for a new one.
func (b benchChain) grown() bool {
	if len(b) == 0 || len(b) >= benchChainMax {
		return true
	}
	changes := int64(0)
	for _, f := range b[1:] {
		changes += f.Length
	}
	return changes >= b[0].Length
}

func (b benchChain) names(generation uint64) bool {
	return slices.ContainsFunc(b, func(f benchFile) bool { return f.Generation == generation })
}

func (b benchChain) last() uint64 {
	if len(b) == 0 {
		return 0
	}
	return b[len(b)-1].Generation
}

// loadBench reads the images of a chain.
func loadBench(fsys vfs.FS, dir string, chain benchChain, o workbench.Options, rules *site.RulesPool) (_ *visit.Workbench, err error) {
	var images []io.Reader
	for _, link := range chain {
		f, openErr := fsys.Open(benchName(dir, link.Generation))
		if openErr != nil {
			return nil, fmt.Errorf("engine: workbench: %w", openErr)
		}
		defer f.Close()
		images = append(images, bufio.NewReaderSize(io.NewSectionReader(f, 0, link.Length), 64<<10))
	}
	b, err := workbench.Load(o, func(b []byte) (site.State, error) { return site.Decode(b, rules) }, images...)
	var corrupt *vfs.CorruptError
	if errors.As(err, &corrupt) {
		return nil, fmt.Errorf("engine: %w", &fs.PathError{Op: "load", Path: benchName(dir, chain[corrupt.Index].Generation), Err: err})
	}
	return b, err
}

// saveBench writes the image of this generation, or the changes since the last one, and names it in m. What was written
// before stays as long as a manifest names it.
func (c *checkpointer) saveBench(m *manifest, image *benchImage) error {
	whole := image.Whole() || c.loose || c.last.Bench.grown()
	c.loose = true // until a manifest names what the bench believes to be written
	name, write := benchName(c.dir, m.Generation), image.WriteChanges
	m.Bench = slices.Clone(c.last.Bench)
	if whole {
		m.Bench, write = nil, image.Write
	}
	if err := c.create(name, write); err != nil {
		return err
	}
	length, err := c.fs.Size(name)
	if err != nil {
		return fmt.Errorf("engine: checkpoint: %w", err)
	}
	m.Bench = append(m.Bench, benchFile{m.Generation, length})
	return nil
}
