package warctool

import (
	"archive/zip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
)

// foreign writes a WACZ as other programs do: an index without blocks, and a signature of their form.
type foreign struct {
	fsys  vfs.FS
	warc  string // file that it packs
	index map[string]string
	sign  func(hash string) *waczSigned

	md5, wrong bool // the form of the digests; whether they are not those of the bytes
}

func (f *foreign) write(t *testing.T, name string) {
	t.Helper()
	text, err := vfs.ReadFile(f.fsys, f.warc)
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{
		"archive/a.warc.gz": string(text),
		"pages/pages.jsonl": `{"format":"json-pages-1.0","id":"pages"}` + "\n",
	}
	for name, lines := range f.index {
		files["indexes/"+name] = lines
	}
	said := map[string]any{"profile": "data-package", "wacz_version": "1.1.1", "created": "2026-01-02T03:04:05Z"}
	var listed []waczResource
	for path, text := range files {
		sum := sha256.Sum256([]byte(text))
		_, base, _ := strings.Cut(path, "/")
		hash := "sha256:" + hex.EncodeToString(sum[:])
		if f.md5 {
			short := md5.Sum([]byte(text))
			short[0] ^= map[bool]byte{true: 1}[f.wrong]
			hash = "md5:" + hex.EncodeToString(short[:])
		}
		listed = append(listed, waczResource{Name: base, Path: path, Hash: hash, Bytes: int64(len(text))})
	}
	said["resources"] = listed
	manifest, err := json.Marshal(said)
	if err != nil {
		t.Fatal(err)
	}
	files["datapackage.json"] = string(manifest)
	sum := sha256.Sum256(manifest)
	d := waczDigest{Path: "datapackage.json", Hash: "sha256:" + hex.EncodeToString(sum[:])}
	if f.sign != nil {
		d.Signed = f.sign(d.Hash)
	}
	digest, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	files["datapackage-digest.json"] = string(digest)
	err = vfs.WriteAtomic(f.fsys, name, func(to io.Writer) error {
		z := zip.NewWriter(to)
		for path, text := range files {
			w, err := z.CreateHeader(&zip.FileHeader{Name: path})
			if err != nil {
				return err
			}
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
		}
		return z.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// An index that is one file, as ArchiveWeb.page writes it, is checked line by line.
func TestVerifyWACZ_readsAnIndexWithoutBlocks(t *testing.T) {
	fsys := vfs.NewMem(1)
	archive := webArchive(t, fsys, "a", "http://a.test/1")
	line := func(offset string) string {
		return `test,a)/1 20260102030400 {"url":"http://a.test/1","status":200,"length":90,"offset":` + offset +
			`,"filename":"a.warc.gz"}` + "\n"
	}
	for what, c := range map[string]struct {
		name, lines, fault, unchecked string
	}{
		"sound":       {"index.cdx", line("0"), "", ""},
		"with !meta":  {"index.cdxj", `!meta 0 {"format":"cdxj"}` + "\n" + line("0"), "", ""},
		"no place":    {"index.cdx", line("999999"), "no such record", ""},
		"no line":     {"index.cdxj", line("0") + "not a line\n", "not a line", ""},
		"not sorted":  {"index.cdx", line("7") + line("0"), "not in order", ""},
		"packed":      {"index.cdx.gz", "these bytes are no gzip", "gzip: invalid header", ""},
		"eleven rows": {"index.cdx", " CDX N b a m s k r M S V g\n", "", "those of a CDX file"},
	} {
		f := foreign{fsys: fsys, warc: archive, index: map[string]string{c.name: c.lines}}
		f.write(t, "x.wacz")
		r, faults := verifyWACZ(t, fsys, "x.wacz")
		if c.fault == "" && faults != "" || !strings.Contains(faults, c.fault) ||
			!strings.Contains(strings.Join(r.Unchecked, " "), c.unchecked) {
			t.Errorf("%s: %s, not checked %q", what, faults, r.Unchecked)
		}
	}
}

// A signature for a domain is checked with the certificate beside it, and what is not checked is said.
func TestVerifyWACZ_readsASignatureForADomain(t *testing.T) {
	fsys := vfs.NewMem(1)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "signing.test"}, DNSNames: []string{"signing.test"},
		NotBefore: time.Unix(1e9, 0), NotAfter: time.Unix(2e9, 0),
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	sign := func(hash string) *waczSigned {
		sum := sha256.Sum256([]byte(hash))
		signature, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
		if err != nil {
			t.Fatal(err)
		}
		return &waczSigned{
			Hash: hash, Created: "2026-01-02T03:04:09Z", Software: "authsigner 0.3.0", Domain: "signing.test",
			DomainCertificate: certificate, Signature: base64.StdEncoding.EncodeToString(signature),
		}
	}
	for fault, change := range map[string]func(*waczSigned){
		"":                         func(*waczSigned) {},
		"not that of the signatur": func(d *waczSigned) { d.Signature = "MEUCIQ==" },
		"one of another domain":    func(d *waczSigned) { d.Domain = "other.test" },
		"cannot be read":           func(d *waczSigned) { d.DomainCertificate = "-----BEGIN CERTIFICATE-----" },
	} {
		f := foreign{
			fsys: fsys, warc: webArchive(t, fsys, "a"+fault, "http://a.test/1"),
			index: map[string]string{"index.cdxj": ""},
			sign: func(hash string) *waczSigned {
				d := sign(hash)
				change(d)
				return d
			},
		}
		f.write(t, "x.wacz")
		r, faults := verifyWACZ(t, fsys, "x.wacz")
		isSound := r.Signed == 1 && len(r.Unchecked) == 1
		if (fault == "") != (faults == "") || !strings.Contains(faults, fault) || isSound != (fault == "") {
			t.Errorf("%q: %s, %+v", fault, faults, r)
		}
	}
}
