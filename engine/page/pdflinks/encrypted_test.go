package pdflinks

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/cputime"
	"orbweaver/internal/invariants"
)

// encrypted returns a file of testdata. qpdf made them of one file with the base http://base.test/ and three links:
//
//	qpdf --encrypt "" owner 256 -- --object-streams=generate plain.pdf aes-256-objects.pdf
func encrypted(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".pdf"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Most encrypted files only forbid to print or to copy. They open without a password, and their links are found: those
// in plain objects, whose strings are encrypted, and those in object streams, which are encrypted as a whole.
func TestScan_readsFilesThatOpenWithoutAPassword(t *testing.T) {
	s := NewScanner(Options{})
	for _, name := range []string{
		"rc4-40", "rc4-128", "rc4-128-v4", "aes-128", "aes-128-metadata", "aes-256-r5", "aes-256", "aes-256-objects",
	} {
		r := s.Scan(encrypted(t, name))
		if r.IsEncrypted || r.Unread > 0 || r.Dropped > 0 || len(r.Links) != 3 || string(r.Base) != "http://base.test/" {
			t.Fatalf("%s: %s", name, describe(r))
		}
		got := string(bytes.Join(r.Links, []byte(" ")))
		for _, link := range []string{"http://a.test/direct", "http://a.test/own", "ü.pdf"} {
			if !strings.Contains(got, link) {
				t.Errorf("%s: %q has no %s", name, got, link)
			}
		}
	}
}

// Nothing is taken of a file that needs a password, or that is encrypted in an unknown way.
func TestScan_leavesFilesWithAPasswordOut(t *testing.T) {
	plain := newFile().object(2, link("x\x93!")).String()
	for name, file := range map[string][]byte{
		"password":         encrypted(t, "password"),
		"unknown method":   changed(t, "aes-256", "/CFM /AESV3", "/CFM /AESV4"),
		"unknown version":  changed(t, "aes-256", "/V 5", "/V 6"),
		"no user key":      changed(t, "aes-256", "/UE", "/XE"),
		"another handler":  changed(t, "aes-256", "/Filter /Standard", "/Filter /Other"),
		"no dictionary":    []byte(plain + "trailer\n<</Encrypt 9 0 R/ID[<00><00>]>>"),
		"in the trailer":   []byte(plain + "trailer\n<</Encrypt<</Filter/Standard/V 2>>>>"),
		"another id":       changed(t, "rc4-128", "/ID [<", "/ID [<99"),
		"in an xref table": []byte(plain + "5 0 obj<</Type/XRef/Encrypt<</Filter/Standard>>>>stream\n\nendstream endobj"),
	} {
		if r := NewScanner(Options{}).Scan(file); !r.IsEncrypted || len(r.Links) > 0 || r.Base != nil || r.Unread > 0 {
			t.Errorf("%s: %s", name, describe(r))
		}
	}
}

// changed is a file of testdata with a text replaced, which must be there.
func changed(t testing.TB, name, old, new string) []byte {
	t.Helper()
	file := encrypted(t, name)
	if !bytes.Contains(file, []byte(old)) {
		t.Fatalf("%s has no %s", name, old)
	}
	return bytes.ReplaceAll(file, []byte(old), []byte(new))
}

// Strings and streams may be encrypted in different ways, or not at all. Some programs leave out the length of the key,
// or write the permissions without a sign.
func TestScan_readsTheFormsOfTheEncryptionDictionary(t *testing.T) {
	for name, file := range map[string][]byte{
		"streams not encrypted":  changed(t, "aes-128", "/StmF /StdCF", "/StmF /Identity"),
		"only strings encrypted": changed(t, "aes-128", "/StmF /StdCF", ""),
		"no length":              changed(t, "rc4-128", "/Length 128", ""),
		"a wrong length":         changed(t, "aes-128", "/Length 128", "/Length 40"),
		"permissions, unsigned":  changed(t, "rc4-128", "/P -4 ", "/P 4294967292 "),
		"in an escaped trailer":  changed(t, "rc4-128", "/Encrypt", "/#45ncrypt"),
		"with a filter None": append(newFile().object(90, link("http://a.test/")).Bytes(),
			changed(t, "aes-256", "/CFM /AESV3", "/CFM /None")...),
	} {
		r := NewScanner(Options{}).Scan(file)
		if got := string(bytes.Join(r.Links, []byte(" "))); r.IsEncrypted || !strings.Contains(got, "http://a.test/") {
			t.Errorf("%s: %s", name, describe(r))
		}
	}
	// The strings of an object stream are not encrypted themselves.
	r := NewScanner(Options{}).Scan(changed(t, "rc4-128-v4", "/StrF /StdCF", "/StrF /Identity"))
	if len(r.Links) != 3 || string(r.Base) == "http://base.test/" {
		t.Errorf("strings not encrypted: %s", describe(r))
	}
	// Of a method that needs a longer key than the file has, nothing can be read.
	r = NewScanner(Options{}).Scan(changed(t, "rc4-40", "/V 1", "/V 4/CF<</StdCF<</CFM/AESV2>>>>/StrF/StdCF"))
	if r.IsEncrypted || len(r.Links) > 0 {
		t.Errorf("a short key: %s", describe(r))
	}
}

// Decryption costs little, however many strings and streams a file has: each needs a key of its own.
func TestScan_decryptionIsBounded(t *testing.T) {
	const size = 4 << 20
	for _, shape := range []string{
		"2 0 obj(a)endobj ", "2 0 obj<</URI(a)>>endobj ", "2 0 obj<</URI<</Base(a)>>>>",
		"2 0 obj<</Type/ObjStm/N 1/First 4>>stream\n1 0 [endstream ",
		"2 0 obj<</Type/ObjStm/Filter/Fl>>stream\n" + strings.Repeat("x", 48) + "\nendstream ",
	} {
		for _, name := range []string{"rc4-128", "aes-128", "aes-256"} {
			file := append([]byte(strings.Repeat(shape, size/len(shape))), encrypted(t, name)...)
			s := NewScanner(Options{})
			spent := cputime.Best(1, func() { s.Scan(file) })
			if spent > time.Second && !invariants.Race {
				t.Errorf("%s, %.40q: %v", name, shape, spent)
			}
			t.Logf("%s, %.40q: %v", name, shape, spent)
			if s.links.decrypted > decryptedMost && s.links.dropped == 0 || s.links.decrypted+s.objects.unread == 0 {
				t.Errorf("%s, %.40q: %d strings were decrypted", name, shape, s.links.decrypted)
			}
		}
	}
}
