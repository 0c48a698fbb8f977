package recovery

import (
	"io"
	"testing"

	"orbweaver/internal/vfs"
)

// A line without its end is dropped, and the old file stays until Finish.
func TestFiles_keepWhatWasThereAndAddEachLineOnce(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("c/" + MarksDir); err != nil {
		t.Fatal(err)
	}
	const name = "c/" + MarksDir + "/a2.cdxj"
	err := vfs.WriteAtomic(fsys, name, func(w io.Writer) error {
		_, err := io.WriteString(w, "old\nhal")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	content := func(name string) string {
		t.Helper()
		b, err := vfs.ReadFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	m := NewMarks(fsys, "c")
	fresh := 0
	for _, line := range []string{"new\n", "old\n", "new\n", "half\n"} {
		is, err := m.Add("a2", []byte(line))
		if err != nil {
			t.Fatal(err)
		}
		if is {
			fresh++
		}
	}
	if _, err := m.Add("a3", []byte("other\n")); err != nil {
		t.Fatal(err)
	}
	if got := content(name); got != "old\nhal" {
		t.Errorf("before the end: %q", got)
	}
	if err := m.Finish(); err != nil {
		t.Fatal(err)
	}
	got, other := content(name), content("c/"+MarksDir+"/a3.cdxj")
	if got != "old\nnew\nhalf\n" || other != "other\n" || fresh != 2 {
		t.Errorf("%q and %q, %d fresh", got, other, fresh)
	}
	after := fsys.LostClone(0) // all of it is durable
	if b, err := vfs.ReadFile(after, name); err != nil || string(b) != "old\nnew\nhalf\n" {
		t.Errorf("after a power cut: %q, %v", b, err)
	}
	if _, err := m.Add("a2", []byte("more\n")); err != nil {
		t.Fatal(err)
	}
	if err := m.Abandon(); err != nil {
		t.Fatal(err)
	}
	if names, err := fsys.List("c/" + MarksDir); err != nil || len(names) != 2 || content(name) != "old\nnew\nhalf\n" {
		t.Errorf("after giving up: %v, %v", names, err)
	}
}
