package engine

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"
	"testing"

	"orbweaver/engine/site"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
)

func TestWhenAChainHasGrown(t *testing.T) {
	for _, story := range []struct {
		lengths []int64
		grown   bool
	}{{nil, true}, {[]int64{100}, false}, {[]int64{100, 60}, false}, {[]int64{100, 60, 40}, true}, {make([]int64, benchChainMax), true}} {
		var chain benchChain
		for i, n := range story.lengths {
			chain = append(chain, benchFile{Generation: uint64(i + 1), Length: n})
		}
		if chain.grown() != story.grown || chain.last() != uint64(len(chain)) || chain.names(3) != (len(chain) >= 3) {
			t.Errorf("%v", chain)
		}
	}
}

// The file of a chain that is damaged is the one that is named.
func TestADamagedFileOfAChainIsNamed(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("f"); err != nil {
		t.Fatal(err)
	}
	w := workbench.New[site.State](workbench.Options{})
	var chain benchChain
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
		writeBytes(t, fsys, benchName("f", g), b.Bytes())
		chain = append(chain, benchFile{g, int64(b.Len())})
	}
	load := func() (int, error) {
		b, err := loadBench(fsys, "f", chain, workbench.Options{}, site.NewRulesPool(0))
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

func writeBytes(t *testing.T, fsys vfs.FS, name string, b []byte) {
	t.Helper()
	f, err := fsys.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
