package fasttext

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	isocodes "golang.org/x/text/language"

	"orbweaver/derive"
	"orbweaver/internal/vfs"
)

// Bounds of what is read of a text, in bytes.
const (
	textBytes = 8 << 10
	partLeast = 1 << 10
	partMost  = 2 << 10
)

// Bounds of the languages of parts.
const (
	partScore = 0.5
	partsMost = 3
)

// label is a label of a model: "en", "eng_Latn".
type label struct {
	code, script string
	iso3         string // ISO 639-3; "" if unknown
}

func newLabel(text string) label {
	l := label{code: text}
	const script = len("_Latn")
	if at := len(text) - script; at > 0 && text[at] == '_' {
		l.code, l.script = text[:at], text[at+1:]
	}
	switch {
	case l.code == "als" && l.script == "":
		l.iso3 = "gsw" // Wikipedia's code of Alemannic; in ISO 639-3 als is Tosk Albanian
	case len(l.code) == 3:
		l.iso3 = l.code
	default:
		if base, err := isocodes.ParseBase(l.code); err == nil {
			l.iso3 = base.ISO3()
		}
	}
	return l
}

// languageDetector implements derive.LanguageDetector.
type languageDetector struct {
	model     *Languages
	predictor *Predictor
	shares    []share
}

// share is how much of a text is in a language.
type share struct {
	iso3  string
	bytes int
}

// NewDetector returns a detector for one goroutine.
func (m *Languages) NewDetector() derive.LanguageDetector {
	return &languageDetector{model: m, predictor: m.model.NewPredictor()}
}

// Main implements derive.LanguageDetector.
func (d *languageDetector) Main(text []byte) derive.Language {
	l, score := d.predict(start(text, textBytes))
	return derive.Language{Code: l.code, Script: l.script, Score: score}
}

// predict returns the best label, or a zero one.
func (d *languageDetector) predict(text []byte) (l label, score float64) {
	for _, best := range d.predictor.Predict(text, 1) {
		l, score = d.model.labels[best.Label], best.Score
	}
	return l, score
}

// Parts implements derive.LanguageDetector.
func (d *languageDetector) Parts(text []byte) string {
	d.shares = d.shares[:0]
	text = start(text, textBytes)
	for len(text) > 0 {
		part := text
		if len(text) > partMost {
			part = start(text, partMost)
			if end := bytes.IndexByte(part[partLeast:], '\n'); end >= 0 {
				part = part[:partLeast+end+1]
			}
		}
		text = text[len(part):]
		if l, score := d.predict(part); score >= partScore && l.iso3 != "" {
			d.add(l.iso3, len(part))
		}
	}
	slices.SortStableFunc(d.shares, func(a, b share) int { return b.bytes - a.bytes })
	found := make([]string, 0, partsMost)
	for _, s := range d.shares[:min(len(d.shares), partsMost)] {
		found = append(found, s.iso3)
	}
	return strings.Join(found, ",")
}

func (d *languageDetector) add(iso3 string, n int) {
	for i := range d.shares {
		if d.shares[i].iso3 == iso3 {
			d.shares[i].bytes += n
			return
		}
	}
	d.shares = append(d.shares, share{iso3, n})
}

// start returns the first bytes of a text, and cuts no character of UTF-8. It is not empty if the text is not.
func start(text []byte, most int) []byte {
	if len(text) <= most {
		return text
	}
	end := most
	for end > most-utf8.UTFMax+1 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// ModelAddress is where models of fastText can be had.
const ModelAddress = "https://fasttext.cc/docs/en/language-identification.html"

// Languages is a model in a file.
type Languages struct {
	labels   []label
	model    *Model
	file     vfs.File
	mapping  vfs.Mapping
	identity string
}

// OpenLanguages reads a model of languages. The caller must close it.
func OpenLanguages(fsys vfs.FS, name string) (*Languages, error) {
	f, err := fsys.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no model of languages at %s; fastText's lid.176.ftz is at %s", name, ModelAddress)
	}
	if err != nil {
		return nil, fmt.Errorf("fasttext: %w", err)
	}
	m := &Languages{file: f, mapping: noMapping{}}
	if err := m.read(); err != nil {
		return nil, errors.Join(fmt.Errorf("fasttext: %s: %w", name, err), m.Close())
	}
	return m, nil
}

func (m *Languages) read() error {
	size, err := m.file.Size()
	if err != nil {
		return err
	}
	// The file is read from start to end once: a mapping alone would fetch it from the disk in single pages.
	hash := xxh3.New()
	if _, err := io.Copy(hash, io.NewSectionReader(m.file, 0, size)); err != nil {
		return err
	}
	m.identity = hex.EncodeToString(hash.Sum(nil))
	mapping, err := m.file.Map(size)
	if err != nil {
		return err
	}
	m.mapping = mapping
	if m.model, err = Open(m.mapping.Bytes()); err != nil {
		return err
	}
	for _, text := range m.model.Labels() {
		m.labels = append(m.labels, newLabel(text))
	}
	return nil
}

// noMapping is the mapping of a file that is not mapped yet.
type noMapping struct{}

func (noMapping) Bytes() []byte   { return nil }
func (noMapping) Expect(int, int) {}
func (noMapping) Sync() error     { return nil }
func (noMapping) Close() error    { return nil }

// Identity is a checksum of the file: other models have other ones.
func (m *Languages) Identity() string { return m.identity }

// Close ends the use of the file. No detector of the model may be used after it.
func (m *Languages) Close() error {
	return errors.Join(m.mapping.Close(), m.file.Close())
}
