package parse

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
)

// html5libDir names the environment variable that says where the tokenizer tests of html5lib lie (files named *.test).
const html5libDir = "ORBWEAVER_HTML5LIB"

// tokenizerTest is one of html5lib's. What matters here of output: whether it is text and nothing else.
type tokenizerTest struct {
	Description   string
	Input         string
	Output        [][]any
	InitialStates []string
	LastStartTag  string
	DoubleEscaped bool
}

func tokenizerTests(t *testing.T) (all []tokenizerTest) {
	t.Helper()
	dir := os.Getenv(html5libDir)
	if dir == "" {
		t.Skip(html5libDir + " names no directory with html5lib's tokenizer tests")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.test"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s (%v)", dir, err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file struct{ Tests, XMLViolationTests []tokenizerTest }
		if err := json.Unmarshal(raw, &file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(append(all, file.Tests...), file.XMLViolationTests...)
	}
	for i := range all {
		if c := &all[i]; c.DoubleEscaped {
			c.Input = unescapeTwice(c.Input)
		}
		if len(all[i].InitialStates) == 0 {
			all[i].InitialStates = []string{"Data state"}
		}
	}
	return all
}

// unescapeTwice reads the \uXXXX of a test that is escaped twice.
func unescapeTwice(s string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, `\u`)
		b.WriteString(before)
		if !found {
			return b.String()
		}
		unit, err := strconv.ParseUint(rest[:4], 16, 16)
		if err != nil {
			return b.String() + rest
		}
		r := rune(unit)
		if low, ok := strings.CutPrefix(rest[4:], `\u`); ok && utf16.IsSurrogate(r) {
			if second, err := strconv.ParseUint(low[:4], 16, 16); err == nil {
				r, rest = utf16.DecodeRune(r, rune(second)), low
			}
		}
		b.WriteRune(r)
		s = rest[4:]
	}
}

// stateLeads are the start tags that bring a tokenizer into a state.
var stateLeads = map[string]string{
	"Data state": "", "RCDATA state": "<textarea>", "RAWTEXT state": "<xmp>", "Script data state": "<script>",
	"PLAINTEXT state": "<plaintext>", "CDATA section state": "<svg><![CDATA[",
}

// TestTokenizerSuite puts every input of the suite before a link, and again with its tags and attributes made ones that
// are links, and again into the value of an attribute: what is a link, and how it reads, must be what x/net's tokenizer
// finds. Where the suite itself says what a text with references means, that is what a title must say.
func TestTokenizerSuite(t *testing.T) {
	links := strings.NewReplacer("<h ", "<a ", "<h/", "<a/", "<H ", "<A ", " a=", " href=", " a =", " href =", " a\n",
		" href\n", "xmp", "xmp")
	s := NewScanner(Options{TitleMax: 1 << 20})
	held, titles := 0, 0
	for _, c := range tokenizerTests(t) {
		for _, state := range c.InitialStates {
			lead, ok := stateLeads[state]
			if !ok {
				t.Fatalf("%s: a state nobody told us of: %s", c.Description, state)
			}
			input := c.Input
			if end := strings.Trim(lead, "<>"); c.LastStartTag != "" {
				input = strings.ReplaceAll(input, "</"+c.LastStartTag, "</"+end)
			}
			for _, body := range []string{
				lead + input, lead + links.Replace(input), lead + `<a href="` + input + `">`, lead + "<a href=" + input + " >",
			} {
				body += "<a href=/after>"
				if state == "CDATA section state" {
					held += agreeWithTree(t, s, []byte(body+"]]><a href=/end>"))
					continue
				}
				agree(t, s, []byte(body))
				held++
			}
		}
		titles += agreeOnTitle(t, s, &c)
	}
	t.Logf("%d bodies held against the tokenizer, %d texts against the suite", held, titles)
	if held < 20_000 || titles < 4_000 {
		t.Errorf("only %d bodies and %d texts: the test has lost its teeth", held, titles)
	}
}

// agreeWithTree holds one body against the tree builder, since the tokenizer alone does not know CDATA sections.
func agreeWithTree(t *testing.T, s *Scanner, body []byte) int {
	t.Helper()
	want := parserLinks(t, body)
	got := scannedLinks(t, s, body)
	for _, ref := range got {
		if !want[ref] {
			t.Errorf("%q: %q is no link to a browser", body, ref)
		}
		delete(want, ref)
	}
	if len(want) > 0 {
		t.Errorf("%q: %v not found in %q", body, want, got)
	}
	return 1
}

// agreeOnTitle holds a text with character references against what the suite says of it.
func agreeOnTitle(t *testing.T, s *Scanner, c *tokenizerTest) int {
	t.Helper()
	if c.InitialStates[0] != "Data state" || len(c.Output) != 1 || !strings.Contains(c.Input, "&") ||
		strings.ContainsAny(c.Input, "<\x00\r") {
		return 0
	}
	want, ok := c.Output[0][1].(string)
	if c.Output[0][0] != "Character" || !ok {
		return 0
	}
	if c.DoubleEscaped {
		want = unescapeTwice(want)
	}
	r, err := s.Scan([]byte("<title>|"+c.Input+"|</title>"), []byte("text/html; charset=utf-8"))
	if want = "|" + want + "|"; err != nil || string(r.Title) != want {
		t.Errorf("%s: %q is %q, want %q (%v)", c.Description, c.Input, r.Title, want, err)
	}
	return 1
}
