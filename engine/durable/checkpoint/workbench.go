package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"orbweaver/engine/state/site"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
)

// workbenchFiles saves the workbench as a chain of files: an image, and the changes since. A file stays as long as a
// manifest names it.
type workbenchFiles struct {
	fs      vfs.FS
	dir     string // frontier/
	bench   *workbench.Workbench[site.State]
	pending *workbench.Snapshot[site.State]
	unnamed bool // a file was written that no manifest names: the next one must be a whole image
}

func (p *workbenchFiles) MarkState(*manifest.Manifest) (err error) {
	p.pending, err = p.bench.Snapshot(site.Append)
	return err
}

// Write writes an image, or the changes since the last file. m has the chain of the manifest before.
func (p *workbenchFiles) Write(m *manifest.Manifest) error {
	whole := p.pending.Whole() || p.unnamed || m.Bench.NeedsImage()
	p.unnamed = true // until a manifest names what the workbench believes to be written
	name, write := manifest.WorkbenchPath(p.dir, m.Generation), p.pending.WriteChanges
	m.Bench = slices.Clone(m.Bench)
	if whole {
		m.Bench, write = nil, p.pending.Write
	}
	if err := WriteFile(p.fs, name, write); err != nil {
		return err
	}
	length, err := p.fs.Size(name)
	if err != nil {
		return err
	}
	m.Bench = append(m.Bench, manifest.ChainFile{Generation: m.Generation, Length: length})
	return nil
}

func (p *workbenchFiles) Sync(m *manifest.Manifest) error {
	return SyncFile(p.fs, manifest.WorkbenchPath(p.dir, m.Bench.Last()))
}

func (p *workbenchFiles) Release(*manifest.Manifest) error {
	p.unnamed = false
	return nil
}

func (p *workbenchFiles) Abandon() {
	if p.pending != nil {
		p.pending.Abandon()
		p.pending = nil
	}
}

// LoadWorkbench reads the files of a chain.
func LoadWorkbench(fsys vfs.FS, dir string, chain manifest.Chain, o workbench.Options, rules *site.RulesPool) (
	*workbench.Workbench[site.State], error) {
	return loadChain(fsys, dir, chain, func(images []io.ReadSeeker) (*workbench.Workbench[site.State], error) {
		readers := make([]io.Reader, len(images))
		for i, image := range images {
			readers[i] = image
		}
		return workbench.Load(o, decodeWith(rules), readers...)
	})
}

// LoadSites reads the sites with the given keys from the files of a chain, for reading: see workbench.LoadSites.
func LoadSites(fsys vfs.FS, dir string, chain manifest.Chain, keys [][]byte, rules *site.RulesPool) (
	*workbench.Workbench[site.State], error) {
	return loadChain(fsys, dir, chain, func(images []io.ReadSeeker) (*workbench.Workbench[site.State], error) {
		return workbench.LoadSites(workbench.Options{}, keys, decodeWith(rules), images...)
	})
}

func decodeWith(rules *site.RulesPool) func(b []byte) (site.State, error) {
	return func(b []byte) (site.State, error) { return site.Decode(b, rules) }
}

// loadChain opens the files of a chain for load. The error names the file that is damaged.
func loadChain(fsys vfs.FS, dir string, chain manifest.Chain,
	load func(images []io.ReadSeeker) (*workbench.Workbench[site.State], error)) (
	*workbench.Workbench[site.State], error) {
	var images []io.ReadSeeker
	for _, link := range chain {
		f, err := fsys.Open(manifest.WorkbenchPath(dir, link.Generation))
		if err != nil {
			return nil, fmt.Errorf("checkpoint: workbench: %w", err)
		}
		defer f.Close()
		images = append(images, io.NewSectionReader(f, 0, link.Length))
	}
	b, err := load(images)
	var corrupt *vfs.CorruptError
	if errors.As(err, &corrupt) {
		name := manifest.WorkbenchPath(dir, chain[corrupt.Index].Generation)
		return nil, fmt.Errorf("checkpoint: %w", &fs.PathError{Op: "load", Path: name, Err: err})
	}
	return b, err
}
