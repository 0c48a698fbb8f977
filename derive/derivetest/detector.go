package derivetest

import (
	"bytes"

	"orbweaver/derive"
)

// Detector detects languages without a model: a text with "eins" or "zwei" is German in part. Its method New is made
// for derive.Options.
type Detector struct{}

// New returns a Detector.
func (Detector) New() derive.LanguageDetector { return Detector{} }

// Main implements derive.LanguageDetector.
func (Detector) Main(text []byte) derive.Language {
	if bytes.Contains(bytes.ToLower(text), []byte("eins")) {
		return derive.Language{Code: "deu", Script: "Latn", Score: 0.75}
	}
	return derive.Language{}
}

// Parts implements derive.LanguageDetector.
func (Detector) Parts(text []byte) string {
	if bytes.Contains(bytes.ToLower(text), []byte("zwei")) {
		return "eng,deu"
	}
	return ""
}
