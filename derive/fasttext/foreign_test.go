package fasttext

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

var (
	program = flag.String("fasttext", "", "fastText's own program, for TestForeign")
	real    = flag.String("model", "", "a model that others trained, for TestForeign")
	sample  = flag.String("text", "", "a text of at least 16 KiB, for BenchmarkPredict")
	write   = flag.Bool("write", false, "TestForeign also writes testdata")
)

// tongue is a made-up language: its words are made of its syllables.
type tongue struct{ label, syllables string }

func tongues() []tongue {
	return []tongue{
		{"en", "the and of ing er to in re tion ly"},
		{"de", "der und ung ge ver ein sch keit \u00fcber gr\u00f6\u00df"},
		{
			"rus_Cyrl", "\u043e \u0432 \u043d\u0430 \u043f\u0440\u0438 " +
				"\u0441\u0442\u0432 \u0435\u043d\u0438\u0435 \u0442\u044c",
		},
		{"zho_Hans", "\u7684 \u4e00 \u662f \u4e0d \u4e86 \u4eba \u6211 \u5728 \u6709 \u4ed6"},
		{"als", "und isch nid e ch \u00e4 ge der"},
	}
}

// sentence draws words. The first ones are drawn most often.
func (l *tongue) sentence(r *rand.Rand, words int) string {
	syllables := strings.Fields(l.syllables)
	var text strings.Builder
	for range words {
		word := rand.New(rand.NewPCG(uint64(r.ExpFloat64()*20), 1))
		for range 1 + word.IntN(3) {
			text.WriteString(syllables[word.IntN(len(syllables))])
		}
		text.WriteByte(' ')
	}
	return strings.TrimSpace(text.String())
}

// trainingLines are lines of fastText: a label and a text.
func trainingLines(r *rand.Rand, lines, variants int) string {
	var text strings.Builder
	for i := range lines {
		l := tongues()[i%len(tongues())]
		label := l.label
		if variants > 1 {
			label += strconv.Itoa(r.IntN(variants))
		}
		fmt.Fprintf(&text, "%s%s %s\n", labelPrefix, label, l.sentence(r, 3+r.IntN(12)))
	}
	return text.String()
}

// questions are lines without labels: sentences, mixtures, and bytes that no training text has.
func questions(r *rand.Rand, n int) [][]byte {
	lines := [][]byte{
		nil, []byte(" \t\v\f\r "), []byte("the"), []byte("<the>"), []byte("__label__de __label__xx und"),
		[]byte("\x80\xff\xfe un\xc3 \xe4"), []byte("a\x00b\x00the"), bytes.Repeat([]byte("ungeheuer "), 900),
		bytes.Repeat([]byte("\u7684\u4e00"), 2000),
	}
	for len(lines) < n {
		first, second := tongues()[r.IntN(5)], tongues()[r.IntN(5)]
		line := []byte(first.sentence(r, 1+r.IntN(20)))
		switch r.IntN(4) {
		case 0:
			line = append(append(line, ' '), second.sentence(r, 1+r.IntN(20))...)
		case 1:
			for range 3 {
				line[r.IntN(len(line))] = byte(r.IntN(256))
			}
			line = bytes.ReplaceAll(line, []byte("\n"), []byte(" "))
		}
		lines = append(lines, line)
	}
	return lines
}

// kind is how a model is trained, and how it is quantised if it is.
type kind struct {
	name     string
	variants int // of each label
	train    string
	quantise string
}

func kinds() []kind {
	const small = " -dim 4 -epoch 8 -bucket 300 -minCount 2"
	return []kind{
		{"softmax", 1, "-loss softmax -minn 2 -maxn 3" + small, ""},
		{"tree", 1, "-loss hs -minn 2 -maxn 4" + small, ""},
		{"all", 1, "-loss ova -minn 1 -maxn 3" + small, ""},
		{"negative", 1, "-loss ns -wordNgrams 3" + small, ""},
		{"words", 1, "-loss softmax -dim 5", ""},
		{"pruned", 1, "-loss hs -minn 2 -maxn 4 -wordNgrams 2 -dim 6 -bucket 900", "-qnorm -cutoff 300 -dsub 2"},
		{"retrained", 1, "-loss softmax -minn 2 -maxn 3" + small, "-qnorm -cutoff 280 -retrain -dsub 3"},
		{"quantised", 1, "-loss ova -minn 2 -maxn 3 -dim 7 -bucket 900", "-dsub 3"},
		{"output", 70, "-loss softmax -minn 2 -maxn 3 -dim 7 -bucket 900 -lr 1 -epoch 20", "-qout -dsub 2"},
		{"outputtree", 70, "-loss hs -minn 2 -maxn 3 -dim 7 -bucket 900", "-qout -qnorm -dsub 2"},
	}
}

// run runs fastText.
func run(t *testing.T, dir string, arguments ...string) []byte {
	t.Helper()
	command := exec.Command(*program, arguments...)
	command.Dir = dir
	var said bytes.Buffer
	command.Stderr = &said
	out, err := command.Output()
	if err != nil {
		t.Fatalf("fasttext %v: %v\n%s", arguments, err, said.Bytes())
	}
	return out
}

// trained trains a model in dir, and returns its file.
func trained(t *testing.T, dir string, k *kind) string {
	t.Helper()
	lines := trainingLines(rand.New(rand.NewPCG(1, 2)), 2000, k.variants)
	text := filepath.Join(dir, k.name+".txt")
	if err := os.WriteFile(text, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	arguments := []string{"supervised", "-input", text, "-output", k.name, "-thread", "1", "-verbose", "0"}
	run(t, dir, append(arguments, strings.Fields(k.train)...)...)
	if k.quantise == "" {
		return filepath.Join(dir, k.name+".bin")
	}
	arguments[0] = "quantize"
	run(t, dir, append(arguments, strings.Fields(k.quantise)...)...)
	return filepath.Join(dir, k.name+".ftz")
}

// FT1: fastText's own program predicts the same labels, with the same scores.
//
//	go test ./derive/fasttext -run Foreign -v -fasttext fasttext [-model lid.176.ftz]
func TestForeign_FT1(t *testing.T) {
	if *program == "" {
		t.Skip("no -fasttext")
	}
	lines := questions(rand.New(rand.NewPCG(3, 4)), 2000)
	dir := t.TempDir()
	for _, k := range kinds() {
		file := trained(t, dir, &k)
		compare(t, file, lines)
		if *write && (k.name == "softmax" || k.name == "all" || k.name == "pruned") {
			record(t, file)
		}
	}
	if *real != "" {
		file, err := filepath.Abs(*real)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, file, append(lines, sentences()...))
	}
}

// predictions returns what fastText predicts for each line.
func predictions(t *testing.T, file string, lines [][]byte) []string {
	t.Helper()
	text := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(text, append(bytes.Join(lines, []byte("\n")), '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	found := strings.Split(string(run(t, "", "predict-prob", file, text)), "\n")
	if len(found) != len(lines)+1 {
		t.Fatalf("%s: %d predictions for %d lines", file, len(found)-1, len(lines))
	}
	return found[:len(lines)]
}

func compare(t *testing.T, file string, lines [][]byte) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Open(content)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	p := m.NewPredictor()
	worst := 0.0
	found := predictions(t, file, lines)
	for i, line := range lines {
		got := p.Predict(line, 1)
		deviation, complaint := judge(m, got, found[i])
		worst = max(worst, deviation)
		if complaint != "" {
			t.Errorf("%s, %.80q: %s", filepath.Base(file), line, complaint)
		}
	}
	t.Logf("%s: %d bytes, %d lines, largest deviation %.2g", filepath.Base(file), len(content), len(lines), worst)
}

// judge compares a prediction with a line of fastText. Labels with nearly the same score may differ: sums of floating
// point numbers depend on their order.
func judge(m *Model, got []Prediction, line string) (deviation float64, complaint string) {
	fields := strings.Fields(line)
	if len(fields) < 2 || len(got) == 0 {
		if len(fields) == len(got) {
			return 0, ""
		}
		return 0, fmt.Sprintf("%v, want %q", got, line)
	}
	score, err := strconv.ParseFloat(fields[1], 64)
	if err != nil {
		return 0, err.Error()
	}
	deviation = math.Abs(got[0].Score - min(score, 1))
	label := m.Labels()[got[0].Label]
	if labelPrefix+label != fields[0] && deviation > 1e-6 || deviation > 1e-4 {
		complaint = fmt.Sprintf("%s %g, want %s", label, got[0].Score, line)
	}
	return deviation, complaint
}

// record writes a model and predictions into testdata.
func record(t *testing.T, file string) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("testdata", filepath.Base(file))
	lines := questions(rand.New(rand.NewPCG(5, 6)), 100)
	text := strings.Join(predictions(t, file, lines), "\n") + "\n"
	for name, content := range map[string][]byte{name: content, name + ".txt": []byte(text)} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// sentences are the beginning of the Universal Declaration of Human Rights in some languages.
func sentences() (lines [][]byte) {
	for _, line := range []string{
		"All human beings are born free and equal in dignity and rights.",
		"Alle Menschen sind frei und gleich an W\u00fcrde und Rechten geboren.",
		"Tous les \u00eatres humains naissent libres et \u00e9gaux en dignit\u00e9 et en droits.",
		"Todos los seres humanos nacen libres e iguales en dignidad y derechos.",
		"Alle mensen worden vrij en gelijk in waardigheid en rechten geboren.",
		"\u0412\u0441\u0435 \u043b\u044e\u0434\u0438 \u0440\u043e\u0436\u0434\u0430\u044e\u0442\u0441\u044f",
		"\u4eba\u4eba\u751f\u800c\u81ea\u7531\u3002",
		"\u3059\u3079\u3066\u306e\u4eba\u9593\u306f\u3001\u81ea\u7531\u3067\u3042\u308b\u3002",
		"Tutti gli esseri umani nascono liberi ed eguali. All human beings are born free.",
	} {
		lines = append(lines, []byte(line))
	}
	return lines
}
