package warctool

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/zipnum"
)

// A cluster of several archives has all lines of their indexes, also of a file without one. No temporary file stays.
func TestWriteCluster(t *testing.T) {
	fsys := vfs.NewMem(1)
	var files, want []string
	for i := range 7 {
		name := webArchive(t, fsys, fmt.Sprintf("a%d", i), fmt.Sprintf("http://a.test/%d", i), "http://b.test/")
		files = append(files, name)
		text, err := vfs.ReadFile(fsys, warc.IndexName(name))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, strings.Split(strings.TrimSpace(string(text)), "\n")...)
	}
	if err := fsys.Remove(warc.IndexName(files[3])); err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	if r, err := (&Tool{FS: fsys}).WriteCluster("c", files...); err != nil || r.Lines != len(want) || r.Blocks != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	c, err := zipnum.Open(fsys, "c", []byte("test,a)"), []byte("test,b)/!"),
		func(_ string, _ int64, what string) { t.Error(what) })
	var got []string
	for err == nil && c.Line() != nil {
		got = append(got, string(c.Line()))
		err = c.Next()
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%d lines, want %d, %v", len(got), len(want), err)
	}
	if names, _ := fsys.List("c"); len(names) != 3 {
		t.Error(names)
	}
}
