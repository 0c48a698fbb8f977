package manifest

import (
	"bytes"
	"encoding/json"
	"testing"

	"orbweaver/internal/golden"
	"orbweaver/internal/vfs/vfstest"
)

// A manifest with all its fields is read, and no field of it is lost. What is written has the same number.
func TestGolden_manifest(t *testing.T) {
	disk := vfstest.WithDir(t, "d")
	var m Manifest
	golden.Fill(&m)
	if err := Write(disk, "d", &m); err != nil {
		t.Fatal(err)
	}
	written := vfstest.ReadAll(t, disk, Path("d"))
	if golden.Writing() {
		golden.Add(t, "manifest-12", written)
	}
	content := golden.Read(t, "manifest-12", "9794d504e9d051339df97cb7eb3763f2204036d0199cd64dff0444fbc89968f8")
	vfstest.WriteAll(t, disk, Path("d"), content)
	got, err := Read(disk, "d")
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := bytes.Cut(content, []byte("\n"))
	now, _, _ := bytes.Cut(written, []byte("\n"))
	if number := len(magic) + 1; string(head[:number]) != string(now[:number]) {
		t.Errorf("the file begins with %q, and what is written with %q", head[:number], now[:number])
	}
	again, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	golden.SameValues(t, again, body)
}

// A manifest of a former format is read, and no field of it is lost.
func TestGolden_formerManifests(t *testing.T) {
	for name, sum := range map[string]string{
		"manifest-7":  "11848316d4024c3b56f7ac322aaf2b43e028a45f3b77f41c30a03dd846552f5d",
		"manifest-8":  "438dcc6e61fef763cd41d7c9ce890723da9616cbac0adbfaf26a1a4aac8fa0a8",
		"manifest-11": "a977190f8ffbbb779120a0d72d0895f471b4d6573d91990f33c95686f37dd598",
		"manifest-10": "2c356ffe961d086092b258ea1d44487fddda1dfa28a5db03432cb115a9e07c05",
		"manifest-9":  "d6d3081bf11764b2971f9d4359d327d16e34861389680f6f433d52c488da0456",
	} {
		disk := vfstest.WithDir(t, "d")
		content := golden.Read(t, name, sum)
		vfstest.WriteAll(t, disk, Path("d"), content)
		got, err := Read(disk, "d")
		if err != nil {
			t.Fatal(err)
		}
		_, body, _ := bytes.Cut(content, []byte("\n"))
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		golden.SameValues(t, again, body)
	}
}
