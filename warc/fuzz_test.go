package warc

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"orbweaver/internal/vfs"
)

// For any bytes the reader ends without a panic, in a bounded number of steps. It returns the same records whether or
// not their blocks are read.
func FuzzReader(f *testing.F) {
	for _, c := range []Compression{Gzip, Zstd, None} {
		b := sample(f, c, 1)
		f.Add(b)
		f.Add(b[:len(b)/2])
		f.Add(append(bytes.Clone(b[:len(b)/2]), b...))
	}
	words := vfs.NewMem(1)
	w, e := openWords(f, words, trained(f), nil)
	writePages(f, w, e, 0, 3)
	if err := w.Close(); err != nil {
		f.Fatal(err)
	}
	if files, err := Files(words, "warc"); err != nil || len(files) != 1 {
		f.Fatal(files, err)
	} else {
		b := mustRead(f, words, "warc/"+files[0].Name)
		f.Add(b)
		f.Add(append(bytes.Clone(b[:len(b)/2]), b...))
	}
	f.Add([]byte("WARC/1.0\nContent-Length: 0\n\n\n\nWARC/"))
	f.Add([]byte("\x5d\x2a\x4d\x18\x05\x00\x00\x00abcde(\xb5/\xfd"))
	f.Fuzz(func(t *testing.T, b []byte) {
		type seen struct{ offset, inner, length int64 }
		read := func(look bool, o ReaderOptions) (recs []seen) {
			z := NewReader(bytes.NewReader(b), o)
			defer z.Close()
			for steps := 0; ; steps++ {
				if steps > 2*len(b)+10 {
					t.Fatal("the reader does not end")
				}
				rec, err := z.Next()
				if err == nil && look {
					_, err = io.Copy(io.Discard, onlyReader{rec})
				}
				var fault *Fault
				switch {
				case err == io.EOF:
					return recs
				case err != nil && !errors.As(err, &fault):
					t.Fatal(err)
				case err == nil:
					recs = append(recs, seen{rec.Offset, rec.Inner, rec.ContentLength})
				}
			}
		}
		o := ReaderOptions{Syntax: Warn, Spec: Warn, Block: Warn, HeaderMax: 4096}
		looked := read(true, o)
		read(true, strict())
		if skipped := read(false, ReaderOptions{HeaderMax: 4096}); len(skipped) < len(looked) {
			t.Fatalf("%d records when skipped, %d when read", len(skipped), len(looked))
		}
		v := NewVerifier(VerifyOptions{})
		if err := v.File("f", bytes.NewReader(b)); err != nil {
			t.Fatal(err)
		}
		v.Finish()
		z := NewReader(bytes.NewReader(b), ReaderOptions{})
		defer z.Close()
		var damage *Fault
		if err := WriteIndex(io.Discard, z, "f", StopAtDamage); err != nil && !errors.As(err, &damage) {
			t.Fatal(err)
		}
	})
}

// A strict reader returns any page that was written, byte for byte.
func FuzzRoundTrip(f *testing.F) {
	f.Add("http://example.com/", "text/html", []byte("HTTP/1.1 200 OK\r\n\r\nhello"), "value", uint8(0))
	f.Add("http://e/\r\nWARC-Type: x", "a\nb", []byte("WARC/1.1\r\n\r\n"), "\r\n\r\n", uint8(1))
	f.Add("<>\"", "", []byte{}, "", uint8(5))
	f.Fuzz(func(t *testing.T, uri, mime string, body []byte, value string, how uint8) {
		if uri == "" {
			return
		}
		c := Compression(how % 3)
		e := newTestEncoder(t, c)
		fsys := vfs.NewMem(1)
		w := openTest(t, fsys, c, 1<<20, nil)
		r := Record{Type: Response, Date: testDate(0), TargetURI: []byte(uri), ContentType: mime, RefersToURI: value,
			Extra: []Field{{"X-Value", value}}, Block: [][]byte{body[:len(body)/2], body[len(body)/2:]},
			Index: &IndexInfo{MIME: []byte(mime)}}
		if how&4 != 0 {
			r.Type = Revisit
		}
		appendRecord(t, e, &r)
		appendRecord(t, e, &Record{Type: Request, Date: testDate(0), TargetURI: []byte(uri), ConcurrentTo: r.ID,
			Block: [][]byte{body}})
		pos, err := w.Append(e.Group())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		group, err := ReadGroup(fsys, "warc", pos)
		if err != nil || len(group) != 2 {
			t.Fatal(len(group), err)
		}
		for i := range group {
			if !bytes.Equal(group[i].Block, body) || len(group[i].Fields) < 6 || group[i].ID.IsZero() {
				t.Fatalf("%+v", group[i])
			}
		}
		files, _ := Files(fsys, "warc")
		if x := mustRead(t, fsys, "warc/"+files[0].Index()); bytes.Count(x, []byte("\n")) != 1 {
			t.Fatalf("%q", x)
		}
	})
}
