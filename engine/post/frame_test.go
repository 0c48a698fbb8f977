package post

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
)

// frames are one of each kind.
func frames() [][]byte {
	h := hello{Versions: versions{1, 3}, Crawl: "crawl-1", From: "a", To: "b"}
	w := welcome{Versions: versions{1, 1}, Version: 1, Window: 4, BatchMax: 1 << 20}
	l := letter{Number: 300, load: load{Form: formPlain, Size: 5}}
	z := letter{Number: math.MaxUint64, load: load{Form: formZstd, Size: 1000}}
	q := question{Version: 1, Kind: 9, Crawl: "crawl-1", From: "a", To: "b", load: load{Size: 4}}
	kept := answer{load: load{Size: 3}}
	late := answer{result: result{Kind: resultQuota, Wait: 1500 * time.Millisecond}}
	return [][]byte{
		h.append(nil), w.append(nil), append(l.append(nil), "batch"...), append(z.append(nil), "packed"...),
		appendResults(nil, []result{{Number: 1}, {Number: 2, Kind: resultRefused, Text: "bad"}, {Number: 3, Kind: resultQuota, Wait: time.Hour}}),
		{kindBeat}, append(q.append(nil), "why?"...), append(kept.append(nil), "so!"...), late.append(nil),
	}
}

// again reads a frame and writes what it has read.
func again(frame []byte) ([]byte, error) {
	const most = 1 << 20
	switch kindOf(frame) {
	case kindHello:
		h, err := parseHello(frame)
		return h.append(nil), err
	case kindWelcome:
		w, err := parseWelcome(frame)
		return w.append(nil), err
	case kindLetter:
		l, err := parseLetter(frame, most)
		return append(l.append(nil), l.Body...), err
	case kindResults:
		r, err := parseResults(frame)
		return appendResults(nil, r), err
	case kindQuestion:
		q, err := parseQuestion(frame, most)
		return append(q.append(nil), q.Body...), err
	case kindAnswer:
		a, err := parseAnswer(frame, most)
		return append(a.append(nil), a.Body...), err
	}
	return []byte{kindBeat}, parseBeat(frame)
}

// What is written is read as it was, and whatever is cut off or added is noticed, save behind a hello and a welcome.
func TestFrame_roundTripAndEveryCutIsNoticed(t *testing.T) {
	for _, frame := range frames() {
		if got, err := again(frame); err != nil || !bytes.Equal(got, frame) {
			t.Errorf("%q is read as %q: %v", frame, got, err)
		}
		for n := range frame {
			if _, err := again(frame[:n]); !errors.Is(err, errMalformed) && !packedBody(frame[:n]) {
				t.Errorf("%q without its end: %v", frame[:n], err)
			}
		}
		grows := frame[0] == kindHello || frame[0] == kindWelcome
		if _, err := again(append(slices.Clone(frame), 0)); (err == nil) != grows && !packedBody(frame) {
			t.Errorf("%q with more at its end: %v", frame, err)
		}
	}
}

// packedBody reports whether nothing but unpacking can tell where the frame ends.
func packedBody(frame []byte) bool {
	l, err := parseLetter(frame, 1<<20)
	return err == nil && l.Form == formZstd
}

// Fields that are out of their ranges are told by their names.
func TestFrame_saysWhatIsWrong(t *testing.T) {
	for want, frame := range map[string][]byte{
		"want at most 64":        (&hello{Versions: versions{1, 1}, Crawl: strings.Repeat("x", 65)}).append(nil),
		"versions 3 to 2":        (&hello{Versions: versions{3, 2}}).append(nil),
		"versions 0 to 2":        (&hello{Versions: versions{0, 2}}).append(nil),
		"room for nothing":       (&welcome{Versions: versions{1, 1}}).append(nil),
		"as ours do":             {kindHello, 'H', 'T', 'T', 'P'},
		"carries 0 bytes":        (&letter{load: load{Size: 3}}).append(nil),
		"form of 2":              (&letter{load: load{Form: 2}}).append(nil),
		"no less than it is":     append((&letter{load: load{Form: formZstd, Size: 2}}).append(nil), "xx"...),
		"result of kind 4":       appendResults(nil, []result{{Kind: 4}}),
		"count of 65":            appendResults(nil, make([]result, 65)),
		"longer than it need be": {kindLetter, 0x81, 0x00, 0, 0},
		"is of kind":             {0xff},
	} {
		if _, err := again(frame); !errors.Is(err, errMalformed) || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, have %v", want, err)
		}
	}
}

// Heads fit into the room that limits of messages leave for them, whatever they say.
func TestFrame_headsAreShort(t *testing.T) {
	name := strings.Repeat("x", nameMax)
	q := question{Version: 255, Crawl: name, From: name, To: name, load: load{Form: formZstd, Size: batchLimit}}
	a := answer{result: result{Kind: resultFailed, Wait: waitMax, Text: strings.Repeat("x", textMax)}, load: load{Form: formZstd, Size: batchLimit}}
	for _, head := range [][]byte{q.append(nil), a.append(nil)} {
		if len(head) > headMax {
			t.Errorf("%d bytes", len(head))
		}
	}
}

// Whatever comes is refused or is what would have been written.
func FuzzFrame(f *testing.F) {
	for _, frame := range frames() {
		f.Add(frame)
	}
	f.Fuzz(func(t *testing.T, frame []byte) {
		before := slices.Clone(frame)
		written, err := again(frame)
		if !bytes.Equal(frame, before) {
			t.Fatal("the frame was written to")
		}
		if err != nil {
			if !errors.Is(err, errMalformed) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.HasPrefix(frame, written) || len(written) < len(frame) && frame[0] != kindHello && frame[0] != kindWelcome {
			t.Fatalf("%q is read as %q", frame, written)
		}
		if more, err := again(written); err != nil || !bytes.Equal(more, written) {
			t.Fatalf("%q is read as %q: %v", written, more, err)
		}
	})
}

// Unpacking yields what was packed, or refuses; it never makes more than was said.
func FuzzUnpack(f *testing.F) {
	p, err := newPacker(new(buffers), 1)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { p.close() })
	for _, text := range []string{"", "short", strings.Repeat("http://example.org/", 100)} {
		l, b := p.pack([]byte(text))
		f.Add(l.Form, l.Size, b.ReadOnlyData())
	}
	f.Fuzz(func(t *testing.T, form byte, size int, body []byte) {
		if size < 0 || size > 1<<20 || form > formZstd || form == formPlain && size != len(body) {
			return // parseLetter lets none of these through
		}
		out, err := p.unpack(load{Form: form, Size: size, Body: body})
		if err != nil {
			if !errors.Is(err, errMalformed) {
				t.Fatal(err)
			}
			return
		}
		if len(*out) != size {
			t.Fatalf("%d bytes, said to be %d", len(*out), size)
		}
		l, b := p.pack(*out)
		back, err := p.unpack(load{l.Form, l.Size, b.ReadOnlyData()})
		if err != nil || !bytes.Equal(*back, *out) {
			t.Fatal(err)
		}
		p.pool.Put(back)
		p.pool.Put(out)
		b.Free()
	})
}

// A bomb costs as much memory as it said it would, and no more.
func TestUnpack_aBombTakesNoMoreThanItSaid(t *testing.T) {
	p, err := newPacker(new(buffers), 1)
	if err != nil {
		t.Fatal(err)
	}
	defer p.close()
	big, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer big.Close()
	bomb := big.EncodeAll(make([]byte, batchLimit-1), nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = p.unpack(load{Form: formZstd, Size: 1 << 20, Body: bomb})
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; !errors.Is(err, errMalformed) || took > 8<<20 {
		t.Errorf("%d bytes of bomb took %d bytes of memory: %v", len(bomb), took, err)
	}
}

// What comes of several versions is told by both of their ranges.
func TestVersions_common(t *testing.T) {
	for from := byte(1); from < 5; from++ {
		for to := from; to < 5; to++ {
			for other := byte(1); other < 5; other++ {
				v, w := versions{from, to}, versions{other, 4}
				got, err := v.common(w)
				back, berr := w.common(v)
				want := to
				if want < other {
					want = 0
				}
				if got != want || back != want || (err == nil) != (want > 0) || (err == nil) != (berr == nil) {
					t.Errorf("%v and %v: %d, %d, %v, %v", v, w, got, back, err, berr)
				}
			}
		}
	}
}
