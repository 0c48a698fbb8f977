package warctool

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/fixity"
)

// The manifest of an archive is made, holds, and finds each change: a byte, a file that is gone, one that is new.
func TestVerifyAgainstManifest(t *testing.T) {
	fsys, name, _ := archive(t)
	text, err := vfs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	var out, faults bytes.Buffer
	tool := &Tool{FS: fsys, Out: &out, Err: &faults}
	m, err := warc.CompleteManifestAll(fsys, "w", func(f *warc.Fault) { t.Error(f) })
	if err != nil || len(m.Files()) != 1 || m.Files()[0].Records["response"] != 3 {
		t.Fatal(m, err)
	}
	put := func(name string, b []byte) {
		t.Helper()
		f, err := fsys.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(b); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	verify := func(want string, files ...string) {
		t.Helper()
		for _, manifest := range []string{"w/" + fixity.ManifestName, "w/" + fixity.SumsName} {
			out.Reset()
			faults.Reset()
			err := tool.VerifyAgainst(manifest, files...)
			if (err == nil) != (want == "manifest: 1 match, 0 differ, 0 missing, 0 not in it") ||
				err != nil && !errors.Is(err, ErrFaults) || !strings.Contains(out.String()+faults.String(), want) {
				t.Errorf("%s: %v\n%s%s, want %q", manifest, err, out.String(), faults.String(), want)
			}
		}
	}
	verify("manifest: 1 match, 0 differ, 0 missing, 0 not in it")
	verify("manifest: 1 match, 0 differ, 0 missing, 0 not in it", "w")
	verify("manifest: 1 match, 0 differ, 0 missing, 0 not in it", name)
	put("w/other.warc.gz", text)
	verify("other.warc.gz: not in the manifest")
	if err := fsys.Remove("w/other.warc.gz"); err != nil {
		t.Fatal(err)
	}
	// The padding of the header does not change what is unpacked, so only the digest of the file can find it.
	changed := bytes.Clone(text)
	changed[4]++ // time in the head of a gzip member
	put(name, changed)
	verify("manifest: 0 match, 1 differ, 0 missing, 0 not in it")
	put(name, append(bytes.Clone(text), "tail"...))
	verify("manifest: 0 match, 1 differ, 0 missing, 0 not in it")
	if err := fsys.Remove(name); err != nil {
		t.Fatal(err)
	}
	verify("in the manifest, and not among the files")
}

// A signature is of these lines and this key, and goes with the lines.
func TestSignedManifest(t *testing.T) {
	fsys, _, _ := archive(t)
	m, err := warc.CompleteManifestAll(fsys, "w", func(f *warc.Fault) { t.Error(f) })
	if err != nil {
		t.Fatal(err)
	}
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := fixity.Sign(fsys, "w", private); err != nil {
		t.Fatal(err)
	}
	const name = "w/" + fixity.ManifestName
	if err := fixity.CheckSignature(fsys, name, public); err != nil {
		t.Error(err)
	}
	if err := fixity.CheckSignature(fsys, name, other); !errors.Is(err, fixity.ErrSignature) {
		t.Error(err)
	}
	if err := m.FileReopened(m.Files()[0].Name); err != nil {
		t.Fatal(err)
	}
	if err := fixity.CheckSignature(fsys, name, public); err == nil {
		t.Error("a signature of former lines holds")
	}
}
