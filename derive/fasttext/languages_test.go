package fasttext

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"orbweaver/derive"
	"orbweaver/internal/vfs"
)

// opened returns the detector of a model of made-up languages: see package fasttext.
func opened(t *testing.T) derive.LanguageDetector {
	t.Helper()
	m, err := OpenLanguages(vfs.Disk(), "../fasttext/testdata/softmax.bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m.NewDetector()
}

// Labels are codes; some models name the script, too.
func TestNewLabel(t *testing.T) {
	for text, want := range map[string]label{
		"en": {"en", "", "eng"}, "zh": {"zh", "", "zho"}, "ceb": {"ceb", "", "ceb"}, "sh": {"sh", "", "hbs"},
		"eng_Latn": {"eng", "Latn", "eng"}, "als": {"als", "", "gsw"}, "als_Latn": {"als", "Latn", "als"},
		"": {"", "", ""}, "_Latn": {"_Latn", "", ""}, "sport": {"sport", "", ""}, "q!": {"q!", "", ""},
	} {
		if got := newLabel(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// A text has the language of most of its words.
func TestMain_one(t *testing.T) {
	d := opened(t)
	for text, want := range map[string]derive.Language{
		"the ofand\ninger tothe theof toof":                               {Code: "en"},
		"\u7684\u4e00 \u662f \u4e0d\u4e86 \u4eba\u6211\n\u5728 \u6709":    {Code: "zho", Script: "Hans"},
		"\u043e\u0432 \u043d\u0430\u043f\u0440\u0438 \u0441\u0442\u0432 ": {Code: "rus", Script: "Cyrl"},
	} {
		got := d.Main([]byte(text))
		if got.Score < 0.5 || got.Score > 1 {
			t.Errorf("%q: %+v", text, got)
		}
		got.Score = 0
		if got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// The parts of a text may be in several languages. Beyond the first 8 KiB nothing is read.
func TestParts(t *testing.T) {
	d := opened(t)
	english := strings.Repeat("the ofand inger tothe theof toof\n", 60)
	chinese := strings.Repeat("\u7684\u4e00 \u662f \u4e0d\u4e86 \u4eba\u6211 \u5728 \u6709\n", 100)
	russian := strings.Repeat("\u043e\u0432 \u043d\u0430\u043f\u0440\u0438 \u0441\u0442\u0432 ", 60)
	for name, c := range map[string]struct{ text, want string }{
		"none":      {"", ""},
		"one":       {english, "eng"},
		"two":       {english[:1200] + chinese, "zho,eng"},
		"three":     {english + chinese + russian, "zho,eng,rus"},
		"long line": {strings.ReplaceAll(english, "\n", " ") + strings.ReplaceAll(chinese, "\n", " "), "zho,eng"},
		"beyond":    {strings.Repeat(english, 9) + chinese, "eng"},
	} {
		if got := d.Parts([]byte(c.text)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A text is cut between characters, and something is always left.
func TestStart(t *testing.T) {
	for _, text := range []string{"a\u00fc\u20ac\U0001f577z", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80"} {
		for most := utf8.UTFMax; most <= len(text); most++ {
			got := start([]byte(text), most)
			if len(got) == 0 || len(got) > most || utf8.ValidString(text) && !utf8.Valid(got) {
				t.Errorf("%q, %d: %q", text, most, got)
			}
		}
	}
}

// A model that is missing, or that is none, is an error that says what to do.
func TestOpen_errors(t *testing.T) {
	fsys := vfs.NewMem(1)
	if _, err := OpenLanguages(fsys, "lid.176.ftz"); err == nil || !strings.Contains(err.Error(), ModelAddress) {
		t.Error(err)
	}
	for _, content := range []string{"", "<html>not found</html>"} {
		err := vfs.WriteAtomic(fsys, "page.html", func(w io.Writer) error {
			_, err := io.WriteString(w, content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := OpenLanguages(fsys, "page.html"); err == nil || !strings.Contains(err.Error(), "page.html") {
			t.Error(err)
		}
	}
}

// Other models have other identities.
func TestIdentity(t *testing.T) {
	found := map[string]bool{}
	for _, name := range []string{"softmax.bin", "all.bin", "pruned.ftz", "pruned.ftz"} {
		m, err := OpenLanguages(vfs.Disk(), "../fasttext/testdata/"+name)
		if err != nil {
			t.Fatal(err)
		}
		found[m.Identity()] = true
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
	if len(found) != 3 {
		t.Error(found)
	}
}
