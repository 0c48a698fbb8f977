package derive

// Language is a language that a text is in. The zero Language is unknown.
type Language struct {
	// Code is the name that the model has for it: ISO 639-1 or 639-3.
	Code string
	// Script is the ISO 15924 name of its script, if the model tells; "" otherwise.
	Script string
	// Score is how sure the model is, from 0 to 1.
	Score float64
}

// LanguageDetector finds out which languages a text is in. It belongs to one worker, and borrows the text.
type LanguageDetector interface {
	// Main returns the language of the text as a whole.
	Main(text []byte) Language
	// Parts returns the languages of the parts of a text, as Common Crawl writes them: ISO 639-3 codes, at most three,
	// the one of most of the text first, with commas.
	Parts(text []byte) string
}

// noDetector knows no language.
type noDetector struct{}

func (noDetector) Main([]byte) Language { return Language{} }

func (noDetector) Parts([]byte) string { return "" }

// Language returns the language of TextPage.
func (r *Record) Language() Language {
	page := r.TextPage()
	if page == nil {
		return Language{}
	}
	if !r.state.isDetected {
		r.state.isDetected = true
		r.state.language = r.memory.detector.Main(page.Text)
	}
	return r.state.language
}

// LanguageOf returns the language of a part of TextPage.
func (r *Record) LanguageOf(part []byte) Language { return r.memory.detector.Main(part) }

// Languages returns the languages of TextPage: see LanguageDetector.Parts. Without them, it returns those that the
// record names.
func (r *Record) Languages() string {
	if !r.state.isDivided {
		r.state.isDivided = true
		if page := r.TextPage(); page != nil {
			r.state.languages = r.memory.detector.Parts(page.Text)
		}
		if r.state.languages == "" {
			r.state.languages = r.Get("WARC-Identified-Content-Language")
		}
	}
	return r.state.languages
}
