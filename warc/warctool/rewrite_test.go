package warctool

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// page is a record with digests; bytes of random content do not get shorter by compression.
func page(n, size int) string {
	body := make([]byte, size)
	random := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range body {
		body[i] = byte(random.Uint32())
	}
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + string(body)
	digest := func(s string) string {
		sum := sha1.Sum([]byte(s))
		return "sha1:" + base32.StdEncoding.EncodeToString(sum[:])
	}
	return fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\n"+
		"WARC-Date: 2020-01-02T03:04:05Z\r\nWARC-Target-URI: http://a.test/%d\r\nX-Own: kept\r\n"+
		"Content-Type: application/http; msgtype=response\r\nWARC-Block-Digest: %s\r\nWARC-Payload-Digest: %s\r\n"+
		"Content-Length: %d\r\n\r\n%s\r\n\r\n", n, n, digest(block), digest(string(body)), len(block), block)
}

func packedMembers(members ...string) string {
	var b bytes.Buffer
	for _, m := range members {
		z := gzip.NewWriter(&b)
		_, _ = io.WriteString(z, m)
		_ = z.Close()
	}
	return b.String()
}

func put(t *testing.T, fsys vfs.FS, name, text string) {
	t.Helper()
	err := vfs.WriteAtomic(fsys, name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
	if err != nil {
		t.Fatal(err)
	}
}

// records lists what a file has: fields and blocks. Of a new file all checks are made, and each record must be read
// alone at its place.
func records(t *testing.T, fsys vfs.FS, name string, isNew bool) (all []string) {
	t.Helper()
	file, err := vfs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	o := warc.ReaderOptions{Name: name}
	if isNew {
		o.Syntax, o.Spec, o.Block = warc.Fail, warc.Fail, warc.Fail
	}
	z := warc.NewReader(bytes.NewReader(file), o)
	defer z.Close()
	err = warc.ScanRecords(z, func(rec *warc.RecordRead) error {
		block, err := rec.ReadBlock(1 << 30)
		if err != nil {
			return err
		}
		all = append(all, fmt.Sprintf("%s %v %x", rec.Version, rec.Fields, sha1.Sum(block)))
		if !isNew {
			return nil
		}
		alone := warc.NewReader(bytes.NewReader(file[rec.Offset:rec.Offset+rec.Length]), o)
		defer alone.Close()
		if again, err := alone.Next(); err != nil || !slices.Equal(again.Fields, rec.Fields) {
			t.Errorf("%s at %d: %v", name, rec.Offset, err)
		}
		return nil
	}, func(f *warc.Fault) error {
		if isNew {
			t.Error(f)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Whatever the form of a file, the new one has the same records, each in its own member. A record that is too long for
// memory comes from a scratch file.
func TestFilesKeepRecords(t *testing.T) {
	pages := []string{page(1, 100), page(2, 3<<20), page(3, 50_000)}
	whole := strings.Join(pages, "")
	for name, text := range map[string]string{
		"plain": whole, "whole.gz": packedMembers(whole), "members.gz": packedMembers(pages...),
		"two.gz":  packedMembers(pages[0], pages[1]+pages[2]),
		"slop.gz": packedMembers(pages[0]+"\x00", pages[1], pages[2]+"\n"),
		"lines":   strings.ReplaceAll(whole, "X-Own: kept", "X-Own:\r\n kept"),
	} {
		for _, form := range []warc.Compression{warc.Gzip, warc.Zstd, warc.None} {
			fsys := vfs.NewMem(1)
			put(t, fsys, name, text)
			r, err := Rewrite(fsys, "new", RewriteOptions{Compression: form, CheckDigests: true}, name)
			if err != nil || r.Records != 3 || r.LeftOut != 0 {
				t.Fatalf("%s to %s: %+v, %v", name, form, r, err)
			}
			if size, _ := fsys.Size("new"); size != r.Bytes {
				t.Errorf("%s to %s: %d bytes, said %d", name, form, size, r.Bytes)
			}
			if got, want := records(t, fsys, "new", true), records(t, fsys, name, false); !slices.Equal(got, want) {
				t.Errorf("%s to %s:\n%s\nwant\n%s", name, form, got, want)
			}
			if names, _ := fsys.List("."); len(names) != 2 {
				t.Error("left behind:", names)
			}
		}
	}
}

// A damaged record is left out and named; those around it stay. A wrong digest counts as damage if digests are checked.
func TestFilesLeaveOutDamage(t *testing.T) {
	pages := []string{page(1, 2000), page(2, 5000), page(3, 2000)}
	wrong := strings.Replace(pages[1], "HTTP/1.1 200 OK", "HTTP/1.1 201 OK", 1)
	inMember := packedMembers(pages...)
	at := len(packedMembers(pages[0])) + 2500
	inMember = inMember[:at] + "\x55\xaa\x55" + inMember[at+3:]
	for name, text := range map[string]string{
		"digest": pages[0] + wrong + pages[2], "digest.gz": packedMembers(pages[0], wrong, pages[2]),
		"member":    inMember,
		"cut":       packedMembers(pages[0], pages[2], pages[1])[:len(packedMembers(pages...))-3000],
		"no record": packedMembers(pages[0], "nothing of WARC\r\n\r\n", pages[2]),
	} {
		fsys := vfs.NewMem(1)
		put(t, fsys, name, text)
		var faults []*warc.Fault
		o := RewriteOptions{CheckDigests: true, OnFault: func(f *warc.Fault) { faults = append(faults, f) }}
		r, err := Rewrite(fsys, "new", o, name)
		if err != nil || r.Records != 2 || r.LeftOut != 1 || len(faults) != 1 || faults[0].File != name {
			t.Errorf("%s: %+v, %v, %v", name, r, faults, err)
			continue
		}
		want := records(t, fsys, name, false)
		if len(want) == 3 { // the reader does not check digests
			want = slices.Delete(want, 1, 2)
		}
		if got := records(t, fsys, "new", true); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, want)
		}
		if name != "digest" {
			continue
		}
		if r, err := Rewrite(fsys, "all", RewriteOptions{}, name); err != nil || r.Records != 3 || r.LeftOut != 0 {
			t.Errorf("without digests: %+v, %v", r, err)
		}
	}
}

// A wrong digest of the payload is no damage where something else shows that the bytes are those of the writer.
func TestFilesKeepForeignPayloadDigests(t *testing.T) {
	lines := strings.Split(page(1, 100), "\r\n")
	lines[8] = "WARC-Payload-Digest: sha1:" + strings.Repeat("A", 32)
	withBlock := strings.Join(lines, "\r\n")
	alone := strings.Join(slices.Delete(lines, 7, 8), "\r\n")
	for i, kept := range map[string]int64{withBlock: 1, packedMembers(alone): 1, alone: 0} {
		fsys := vfs.NewMem(1)
		put(t, fsys, "in", i)
		r, err := Rewrite(fsys, "new", RewriteOptions{CheckDigests: true}, "in")
		if r.LeftOut != 1-kept || r.Records != kept {
			t.Errorf("%+v, %v, want %d kept:\n%.300q", r, err, kept, i)
		}
	}
}

// Records of an ARC file become those of WARC, behind a warcinfo record. The same file gives the same identities.
func TestFilesMakeWARCOfARC(t *testing.T) {
	fsys := vfs.NewMem(1)
	put(t, fsys, "x.arc", "filedesc://x.arc 0.0.0.0 20080102030405 text/plain 14\n1 0 Archive\n\n\n\n"+
		"http://a.test/1 192.0.2.1 20080102030406 text/html 23\nHTTP/1.0 200 OK\r\n\r\nabcd\n")
	o := RewriteOptions{Software: "test", Now: time.Unix(0, 0), CheckDigests: true}
	for _, out := range []string{"new", "again"} {
		if r, err := Rewrite(fsys, out, o, "x.arc"); err != nil || r.Records != 3 || r.LeftOut != 0 {
			t.Fatal(r, err)
		}
	}
	got := records(t, fsys, "new", true)
	for i, want := range []string{"warcinfo", "metadata", "response"} {
		if !strings.Contains(got[i], "{WARC-Type "+want+"}") {
			t.Errorf("record %d: %s, want %s", i, got[i], want)
		}
	}
	if !strings.Contains(got[2], fmt.Sprintf("%x", sha1.Sum([]byte("HTTP/1.0 200 OK\r\n\r\nabcd")))) {
		t.Error(got[2])
	}
	if again := records(t, fsys, "again", true); !slices.Equal(got, again) {
		t.Errorf("%s\nand then\n%s", got, again)
	}
}

// What exists is never replaced, and a full disk or a file without records leaves nothing under the new name.
func TestFilesReplaceNothing(t *testing.T) {
	fsys := vfs.NewMem(1)
	put(t, fsys, "in", page(1, 1<<20))
	put(t, fsys, "none", "no archive")
	if _, err := Rewrite(fsys, "in", RewriteOptions{}, "in"); !errors.Is(err, ErrExists) {
		t.Error(err)
	}
	if _, err := Rewrite(fsys, "new", RewriteOptions{}, "none"); !errors.Is(err, ErrNoRecord) {
		t.Error(err)
	}
	fsys.SetLimit(fsys.Used() + 100<<10)
	if _, err := Rewrite(fsys, "new", RewriteOptions{}, "in"); !vfs.IsFull(err) {
		t.Error(err)
	}
	if _, err := fsys.Size("new"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("half a file under the final name:", err)
	}
}
