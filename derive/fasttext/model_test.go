package fasttext

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cputime"
)

// samples are the models of testdata: small ones that fastText trained with made-up languages (TestForeign, -write).
func samples(tb testing.TB) map[string][]byte {
	tb.Helper()
	found := map[string][]byte{}
	for _, name := range []string{"softmax.bin", "all.bin", "pruned.ftz"} {
		content, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			tb.Fatal(err)
		}
		found[name] = content
	}
	return found
}

// FT1: labels and scores are those that fastText had for the same lines: with a softmax, with one probability for each
// label, and with a pruned and quantised model that has a tree of labels and n-grams of words.
func TestPredict_FT1(t *testing.T) {
	lines := questions(rand.New(rand.NewPCG(5, 6)), 100)
	for name, content := range samples(t) {
		m, err := Open(content)
		if err != nil {
			t.Fatal(name, err)
		}
		said, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		p := m.NewPredictor()
		for i, want := range strings.Split(strings.TrimSuffix(string(said), "\n"), "\n") {
			if _, complaint := judge(m, p.Predict(lines[i], 1), want); complaint != "" {
				t.Errorf("%s, %.80q: %s", name, lines[i], complaint)
			}
		}
	}
}

// Several labels are in the order of their scores. Words that were met before give the same result, and so does a text
// whose words are separated in another way.
func TestPredict_several(t *testing.T) {
	for name, content := range samples(t) {
		m, err := Open(content)
		if err != nil {
			t.Fatal(name, err)
		}
		p := m.NewPredictor()
		for _, line := range questions(rand.New(rand.NewPCG(7, 8)), 50) {
			fresh := append([]Prediction{}, m.NewPredictor().Predict(line, 99)...)
			warm := p.Predict(bytes.ReplaceAll(line, []byte(" "), []byte("\r\n")), 99)
			if len(fresh) != len(m.Labels()) || len(warm) != len(fresh) {
				t.Fatalf("%s: %d and %d labels of %d", name, len(fresh), len(warm), len(m.Labels()))
			}
			for i := range fresh {
				if d := fresh[i].Score - warm[i].Score; d < -1e-6 || d > 1e-6 {
					t.Errorf("%s: %v, then %v", name, fresh, warm)
				}
				if i > 0 && fresh[i].Score > fresh[i-1].Score {
					t.Errorf("%s: not in order: %v", name, fresh)
				}
			}
		}
		if got := p.Predict([]byte("und"), 0); len(got) != 0 {
			t.Error(got)
		}
	}
}

// FT2: a file that was cut, at whatever place, is refused.
func TestOpen_cut_FT2(t *testing.T) {
	for name, content := range samples(t) {
		for n := range len(content) {
			if n > 2000 && n%37 != 0 {
				continue
			}
			if _, err := Open(content[:n]); !errors.Is(err, ErrFormat) {
				t.Fatalf("%s, %d of %d bytes: %v", name, n, len(content), err)
			}
		}
	}
}

// FT2: numbers that do not fit the file are refused, and the fault is named.
func TestOpen_faults_FT2(t *testing.T) {
	content := samples(t)["softmax.bin"]
	for _, c := range []struct {
		at    int
		value uint32
		want  string
	}{
		{0, 1, "it begins with other bytes"},
		{4, 13, "version 13"},
		{8, 0, "rows of 0 numbers"},
		{8, 1 << 30, "numbers, want 1073741824"},
		{28, 1 << 20, "n-grams of 1048576 words"},
		{32, 9, "loss function 9"},
		{36, 1, "a model of word vectors"},
		{40, 0, "n-grams without buckets"},
		{40, 1 << 30, "rows for words and n-grams"},
		{48, 1000, "n-grams of 1 words and of 1000 characters"},
		{64, 1 << 30, "entries"},
	} {
		bad := bytes.Clone(content)
		binary.LittleEndian.PutUint32(bad[c.at:], c.value)
		if _, err := Open(bad); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d at %d: %v, want %q", c.value, c.at, err, c.want)
		}
	}
}

// FT2: words that all have one place in the table are refused, and cost no more than other words.
func TestOpen_collisions_FT2(t *testing.T) {
	d := dictionary{slots: make([]int32, 1<<14), shift: 64} // with this shift all words have place 0
	var err error
	for i := range 1 << 12 {
		d.entries = append(d.entries, entry{binary.LittleEndian.AppendUint32(nil, uint32(i))})
		if err = d.insert(int32(i)); err != nil {
			break
		}
	}
	if err == nil || len(d.entries) > probesMax+1 {
		t.Errorf("%v after %d words", err, len(d.entries))
	}
}

// FT2: whatever the file says, nothing panics. Inputs are changes of a sample, and not files: Go's fuzzer needs minutes
// to shorten an input of 16 KiB. A change is the place and the value of a byte.
func FuzzOpen(f *testing.F) {
	sound := samples(f)
	names := []string{"softmax.bin", "all.bin", "pruned.ftz"}
	for i := range names {
		f.Add(byte(i), uint16(0), []byte{0, 8, 3, 1, 0, 255}, []byte("und ing the \xff \u00fcber"))
	}
	f.Fuzz(func(t *testing.T, which byte, cut uint16, changes, text []byte) {
		file := bytes.Clone(sound[names[int(which)%len(names)]])
		file = file[:len(file)-int(cut)%len(file)]
		for ; len(changes) >= 3; changes = changes[3:] {
			file[int(binary.BigEndian.Uint16(changes))%len(file)] = changes[2]
		}
		m, err := Open(file)
		if err != nil {
			return
		}
		for _, found := range m.NewPredictor().Predict(text[:min(len(text), 1<<12)], 3) {
			if found.Score < 0 || found.Score > 1 || found.Label >= len(m.Labels()) {
				t.Fatal(found)
			}
		}
	})
}

// Predicting needs no new memory. The figures of docs/outputs.md are of lid.176.ftz:
//
//	go test ./derive/fasttext -run xx -bench Predict -model lid.176.ftz -text FILE
func BenchmarkPredict(b *testing.B) {
	content := samples(b)["pruned.ftz"]
	var err error
	if *real != "" {
		content, err = os.ReadFile(*real)
	}
	if err != nil {
		b.Fatal(err)
	}
	text := bytes.Join(questions(rand.New(rand.NewPCG(9, 9)), 1000), []byte("\n"))
	if *sample != "" {
		if text, err = os.ReadFile(*sample); err != nil {
			b.Fatal(err)
		}
	}
	m, err := Open(content)
	if err != nil {
		b.Fatal(err)
	}
	const size = 8 << 10
	measure(b, "open", func(int) { Open(content) })
	for _, name := range []string{"first", "next"} {
		p := m.NewPredictor()
		measure(b, name, func(n int) {
			if name == "first" {
				clear(p.recent.keys) // as if no word had been met before
			}
			at := n * size % (len(text) - size)
			p.Predict(text[at:at+size], 1)
		})
	}
}

// measure reports CPU time: other programs may run.
func measure(b *testing.B, name string, f func(n int)) {
	b.Run(name, func(b *testing.B) {
		b.ReportAllocs()
		n := 0
		began := cputime.Process()
		for b.Loop() {
			f(n)
			n++
		}
		b.ReportMetric(float64(cputime.Process()-began)/1e3/float64(b.N), "CPU-us/op")
	})
}
