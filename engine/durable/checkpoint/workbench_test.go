package checkpoint

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"orbweaver/engine/state/site"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/workbench"
)

// The error names the damaged file of a chain.
func TestLoadWorkbench_namesTheDamagedFile(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("f"); err != nil {
		t.Fatal(err)
	}
	w := workbench.New[site.State](workbench.Options{})
	var chain manifest.Chain
	for g := uint64(1); g <= 3; g++ {
		w.GetOrAdd([]byte{'a' + byte(g)})
		cut, err := w.Snapshot(site.Append)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		write := cut.WriteChanges
		if cut.Whole() {
			write = cut.Write
		}
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		vfstest.WriteAll(t, fsys, manifest.WorkbenchPath("f", g), b.Bytes())
		chain = append(chain, manifest.ChainFile{Generation: g, Length: int64(b.Len())})
	}
	load := func() (int, error) {
		b, err := LoadWorkbench(fsys, "f", chain, workbench.Options{}, site.NewRulesPool(0))
		if err != nil {
			return 0, err
		}
		return b.Counts().Sites, nil
	}
	if n, err := load(); n != 3 || err != nil {
		t.Fatal(n, err)
	}
	chain[1].Length--
	var where *fs.PathError
	if _, err := load(); !errors.As(err, &where) || !strings.HasSuffix(where.Path, "bench-00000002") {
		t.Error(err)
	}
	chain[2].Generation = 9
	if _, err := load(); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
