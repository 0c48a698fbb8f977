package fixity

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
)

func textOf(t *testing.T, disk vfs.FS, name string) string {
	t.Helper()
	b, err := vfs.ReadFile(disk, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A closed file has its line in both forms, until it is opened again. Another run knows the same.
func TestManifestListsClosedFiles(t *testing.T) {
	disk := vfs.NewMem(1)
	m, err := Open(disk, "warc", 0)
	if err != nil {
		t.Fatal(err)
	}
	a := File{
		Name: "a-00000.warc.gz", Bytes: 3, SHA256: sha256.Sum256([]byte("abc")), Records: map[string]uint64{"request": 2},
	}
	b := File{Name: "b-00001.warc.gz", Bytes: 0, SHA256: sha256.Sum256(nil)}
	for _, f := range []File{b, a, a} {
		if err := m.FileClosed(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.FileReopened(b.Name); err != nil {
		t.Fatal(err)
	}
	const sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
	if got := textOf(t, disk, "warc/"+SumsName); got != sum+"  a-00000.warc.gz\n" {
		t.Error(got)
	}
	want := `{"format":"orbweaver-manifest-1","since":0}` + "\n" +
		`{"name":"a-00000.warc.gz","bytes":3,"sha256":"` + sum + `","records":{"request":2}}` + "\n"
	if got := textOf(t, disk, "warc/"+ManifestName); got != want {
		t.Error(got)
	}
	if err := disk.Remove("warc/" + SumsName); err != nil { // a kill came between the two
		t.Fatal(err)
	}
	if m, err = Open(disk, "warc", 7); err != nil {
		t.Fatal(err)
	}
	textOf(t, disk, "warc/"+SumsName)
	if !m.Lists(a.Name, 0) || m.Lists(b.Name, 1) || len(m.Files()) != 1 || m.Files()[0].Records["request"] != 2 {
		t.Errorf("%+v", m.Files())
	}
}

// The files before the first one that a manifest lists need no line.
func TestManifestOfAnOlderArchive(t *testing.T) {
	m, err := Open(vfs.NewMem(1), "warc", 3)
	if err != nil {
		t.Fatal(err)
	}
	if !m.Lists("old", 2) || m.Lists("new", 3) {
		t.Error(m.first)
	}
	if err := m.ListAll(); err != nil || m.Lists("old", 2) {
		t.Error(m.first, err)
	}
}

// Both forms are read, and names that lead elsewhere are refused.
func TestReadManifests(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	for text, want := range map[string]string{
		sum + "  a.warc\n":            "a.warc",
		sum + " *./data/a.warc\r\n\n": "data/a.warc",
		sum + "  ../a.warc\n":         "",
		sum + "  /etc/passwd\n":       "",
		sum[1:] + "  a.warc\n":        "",
		sum + "00  a.warc\n":          "",
		"words\n":                     "",
		"":                            "",
		`{"format":"other"}` + "\n":   "",
		`{"format":"orbweaver-manifest-1","since":1}` + "\n" + `{"name":"a","bytes":1,"sha256":"` + sum + `"}`: "a",
		`{"format":"orbweaver-manifest-1","since":1}` + "\n" + `{"name":"a","bytes":1,"sha256":"` + sum:        "",
		`{"format":"orbweaver-manifest-1"}` + "\n" + `{"name":"../a","bytes":1,"sha256":"` + sum + `"}`:        "",
		sum + "  " + strings.Repeat("a", lineMost):                                                             "",
	} {
		l, err := Read(strings.NewReader(text))
		switch {
		case want == "" && !errors.Is(err, ErrManifest):
			t.Errorf("%.90q: %v", text, err)
		case want != "" && (err != nil || len(l.Files) != 1 || l.Files[0].Name != want):
			t.Errorf("%.90q: %+v, %v", text, l, err)
		}
	}
}
