package language

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	codes "golang.org/x/text/language"

	"orbweaver/derive"
	"orbweaver/derive/fasttext"
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
		if base, err := codes.ParseBase(l.code); err == nil {
			l.iso3 = base.ISO3()
		}
	}
	return l
}

// detector implements derive.LanguageDetector.
type detector struct {
	model     *Model
	predictor *fasttext.Predictor
	shares    []share
}

// share is how much of a text is in a language.
type share struct {
	iso3  string
	bytes int
}

// NewDetector returns a detector for one goroutine.
func (m *Model) NewDetector() derive.LanguageDetector {
	return &detector{model: m, predictor: m.model.NewPredictor()}
}

// Main implements derive.LanguageDetector.
func (d *detector) Main(text []byte) derive.Language {
	l, score := d.predict(start(text, textBytes))
	return derive.Language{Code: l.code, Script: l.script, Score: score}
}

// predict returns the best label, or a zero one.
func (d *detector) predict(text []byte) (l label, score float64) {
	for _, best := range d.predictor.Predict(text, 1) {
		l, score = d.model.labels[best.Label], best.Score
	}
	return l, score
}

// Parts implements derive.LanguageDetector.
func (d *detector) Parts(text []byte) string {
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

func (d *detector) add(iso3 string, n int) {
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
