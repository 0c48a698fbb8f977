package fixity

import (
	"bytes"
	"testing"

	"orbweaver/internal/golden"
)

// The manifest of an archive with two files.
func TestGolden_manifest(t *testing.T) {
	l := List{FirstSerial: 3, Files: []File{
		{
			Name: "orbweaver-20261126053836932-00003-localhost.warc.gz", Bytes: 4_767_425, SHA256: [32]byte{1, 31: 255},
			Records: map[string]uint64{"warcinfo": 1, "response": 446, "request": 493, "revisit": 47},
		},
		{Name: "orbweaver-20261126053836999-00004-localhost.warc.zst", Bytes: 1, SHA256: [32]byte{2}},
	}}
	var text bytes.Buffer
	if err := WriteLines(&text, l); err != nil {
		t.Fatal(err)
	}
	kept := golden.Compare(t, "manifest-1", "07d7c2eed469b51a2a5d3139e8c87fccfa5b039da6b64be92668ad4417bd5672",
		text.Bytes())
	again, err := Read(bytes.NewReader(kept))
	if err != nil || again.FirstSerial != 3 || len(again.Files) != 2 || again.Files[0].Records["request"] != 493 ||
		again.Files[1].SHA256 != l.Files[1].SHA256 {
		t.Errorf("%+v, %v", again, err)
	}
}
