package warc

import (
	"bytes"
	"crypto/sha1"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

// memScratch is a Scratch in memory that can be full.
type memScratch struct {
	b    []byte
	full int // number of writes that fail from now on
}

func (s *memScratch) Write(b []byte) (int, error) {
	if s.full > 0 {
		s.full--
		return 0, syscall.ENOSPC
	}
	s.b = append(s.b, b...)
	return len(b), nil
}

func (s *memScratch) ReadAt(b []byte, at int64) (int, error) {
	return bytes.NewReader(s.b).ReadAt(b, at)
}
func (s *memScratch) Reset() { s.b = nil }

// longRecord is a response whose body is a Source from a position on.
func longRecord(body string, from int) *Record {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n"
	block := sha1.Sum([]byte(head + body))
	payload := sha1.Sum([]byte(body))
	r := &Record{
		Type: Response, Date: time.Unix(1e9, 0), TargetURI: []byte("http://a.test/v"), BlockDigest: &block,
		PayloadDigest: &payload, Index: &IndexInfo{Status: 200, MIME: []byte("video/mp4")},
		Block: [][]byte{[]byte(head), []byte(body[:from])},
	}
	if from < len(body) {
		r.Source = Source{From: strings.NewReader(body[from:]), Size: int64(len(body) - from)}
	}
	return r
}

// sourceForms are all forms of an archive file.
func sourceForms(t *testing.T) map[string]EncoderOptions {
	return map[string]EncoderOptions{
		"gzip": {}, "gzip-6": {Level: 6}, "zstd": {Compression: Zstd}, "none": {Compression: None},
		"dictionary": {Compression: Zstd, Dictionary: trained(t)},
	}
}

// A record with a Source of any size is written as one without, in every form, between other groups, and over a change
// of the file. Its memory is bounded, and every reader takes it.
func TestSource_aLongRecordIsWrittenAsAShortOne(t *testing.T) {
	random := make([]byte, 6<<20)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(random)
	bodies := map[string]string{
		"random": string(random), "zeros": strings.Repeat("\x00", 6<<20), "short": "x", "empty": "",
	}
	for name, o := range sourceForms(t) {
		for kind, body := range bodies {
			t.Run(name+"/"+kind, func(t *testing.T) {
				disk := vfs.NewMem(1)
				scratch := new(memScratch)
				o.Scratch = scratch
				w, err := OpenWriter(disk, Options{Dir: "warc", Compression: o.Compression, Level: o.Level,
					Dictionary: o.Dictionary, SizeMax: 8 << 20}, nil)
				if err != nil {
					t.Fatal(err)
				}
				e, err := NewEncoder(o)
				if err != nil {
					t.Fatal(err)
				}
				var places []Position
				for n := range 2 { // the second long group begins a file
					for _, r := range []*Record{longRecord(body, min(n, len(body))), longRecord("short", 5)} {
						e.Reset()
						request := &Record{Type: Request, Date: r.Date, TargetURI: r.TargetURI, Block: [][]byte{[]byte("GET")}}
						for _, r := range []*Record{r, request} {
							if err := e.Append(r); err != nil {
								t.Fatal(err)
							}
							request.ConcurrentTo = r.ID
						}
						if out, err := e.Group().output(); err != nil || cap(out.Head) > 4<<20 {
							t.Errorf("%v, %d bytes are in memory", err, cap(out.Head))
						}
						pos, err := w.Append(e.Group())
						if err != nil {
							t.Fatal(err)
						}
						if pos.Length != e.Group().Size() {
							t.Errorf("a group of %d bytes takes %d", e.Group().Size(), pos.Length)
						}
						places = append(places, pos)
					}
				}
				e.Reset()
				if len(scratch.b) > 0 {
					t.Error("the scratch is not empty at the end")
				}
				for i, pos := range places {
					group, err := ReadGroup(disk, "warc", pos)
					if err != nil || len(group) != 2 {
						t.Fatal(len(group), err)
					}
					want := "short"
					if i%2 == 0 {
						want = body
					}
					if _, got, ok := group[0].HTTPMessage(); !ok || string(got) != want {
						t.Errorf("group %d: %d bytes of body", i, len(got))
					}
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				if r := verifyDir(t, disk); r.Types["response"] != 4 || r.DigestsChecked != 4+8+r.Types["warcinfo"] &&
					kind != "empty" {
					t.Errorf("%+v", r)
				}
			})
		}
	}
}

// After a fault of the source, of the scratch or of the file, nothing of the record is in the archive, and the same
// record can be written again.
func TestSource_aFaultCostsNothing(t *testing.T) {
	random := make([]byte, 6<<20)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(random)
	for name, o := range sourceForms(t) {
		t.Run(name, func(t *testing.T) {
			script := faultfs.NewScript()
			disk := vfs.NewMem(1)
			scratch := &memScratch{}
			o.Scratch = scratch
			w, err := OpenWriter(faultfs.New(disk, script), Options{Dir: "warc", Compression: o.Compression, Level: o.Level,
				Dictionary: o.Dictionary}, nil)
			if err != nil {
				t.Fatal(err)
			}
			e, err := NewEncoder(o)
			if err != nil {
				t.Fatal(err)
			}
			write := func(r *Record) error {
				e.Reset()
				if err := e.Append(r); err != nil {
					return err
				}
				if err := e.Pack(w); err != nil {
					return err
				}
				_, err := w.Append(e.Group())
				return err
			}
			if err := write(longRecord("first", 5)); err != nil {
				t.Fatal(err)
			}
			before := w.Checkpoint()
			torn := longRecord(string(random), 100)
			torn.Source.From = io.NewSectionReader(strings.NewReader(string(random[:5<<20])), 0, 5<<20)
			if err := write(torn); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("a short source: %v", err)
			}
			scratch.full = 1
			if err := write(longRecord(string(random), 100)); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("a full scratch: %v", err)
			}
			for n := 1; n <= 12; n += 4 {
				script.Clear()
				script.Add(faultfs.Rule{Op: faultfs.Write, From: n, Count: 1, Err: syscall.ENOSPC})
				if err := write(longRecord(string(random), 100)); !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("a full disk at write %d: %v", n, err)
				}
			}
			if w.Checkpoint() != before {
				t.Errorf("the archive ends at %v, not at %v", w.Checkpoint(), before)
			}
			script.Clear()
			if err := write(longRecord(string(random), 100)); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if r := verifyDir(t, disk); r.Types["response"] != 2 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// A record that no Encoder can write is refused, and costs its group nothing.
func TestSource_isOfTheFirstRecordAndHasADigest(t *testing.T) {
	e, err := NewEncoder(EncoderOptions{Scratch: new(memScratch)})
	if err != nil {
		t.Fatal(err)
	}
	bare := longRecord("body", 0)
	bare.BlockDigest = nil
	if err := e.Append(bare); !errors.Is(err, ErrRecord) {
		t.Errorf("without a digest: %v", err)
	}
	if err := e.Append(longRecord("body", 4)); err != nil {
		t.Fatal(err)
	}
	if err := e.Append(longRecord("body", 0)); !errors.Is(err, ErrRecord) || e.Group().Len() != 1 {
		t.Errorf("as the second record: %v, %d records", err, e.Group().Len())
	}
}
