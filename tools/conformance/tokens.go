package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// tokenCase is one case of html5lib's tokenizer tests; what its tokens are does not matter here.
type tokenCase struct {
	Description   string
	Input         string
	InitialStates []string
	LastStartTag  string
	DoubleEscaped bool

	name string
}

// readTokenCases reads all of them, in order.
func readTokenCases(data fs.FS) (all []tokenCase, err error) {
	names, err := fs.Glob(data, "html/html5lib/tokenizer/*.test")
	if err == nil && len(names) == 0 {
		err = fs.ErrNotExist
	}
	for _, name := range names {
		text, err := fs.ReadFile(data, name)
		if err != nil {
			return nil, err
		}
		var file struct{ Tests, XMLViolationTests []tokenCase }
		if err := json.Unmarshal(text, &file); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for _, c := range append(file.Tests, file.XMLViolationTests...) {
			if c.DoubleEscaped {
				c.Input = unescape(c.Input)
			}
			c.name = path.Base(name) + ": " + c.Description
			all = append(all, c)
		}
	}
	return all, err
}

// unescape replaces \u1234. Lone surrogates, which UTF-8 cannot say, become U+FFFD.
func unescape(s string) string {
	return regexp.MustCompile(`(\\u[0-9A-Fa-f]{4})+`).ReplaceAllStringFunc(s, func(run string) string {
		var text string
		if err := json.Unmarshal([]byte(strconv.Quote("")[:1]+run+`"`), &text); err != nil {
			return run
		}
		return text
	})
}

// before is what a document has to begin with for its input to be read in a state of the tokenizer.
func (c *tokenCase) before(state string) (text string, ok bool) {
	tag := c.LastStartTag
	switch state {
	case "Data state":
		return "", true
	case "PLAINTEXT state":
		return "<plaintext>", true
	case "RCDATA state":
		if tag == "" {
			tag = "title"
		}
	case "RAWTEXT state":
		if tag == "" {
			tag = "xmp"
		}
	case "Script data state":
		tag = "script"
	default: // CDATA sections are in SVG and MathML only, about which a tokenizer alone knows nothing
		return "", false
	}
	return "<" + tag + ">", true
}

// documents are the settings in which an input is read: where its state wants it, with a link behind that is seen or
// not as the input leaves the reader inside or outside of something, and as a link itself.
func (c *tokenCase) documents() (docs []string) {
	states := c.InitialStates
	if len(states) == 0 {
		states = []string{"Data state"}
	}
	for _, state := range states {
		begin, ok := c.before(state)
		if !ok {
			continue
		}
		for _, end := range []string{"", "\">", "'>", "-->", ">"} {
			docs = append(docs, begin+c.Input+end+"<a href=/behind>x</a>")
		}
		if begin != "" {
			docs = append(docs, begin+c.Input+"</"+strings.Trim(begin, "<>")+"><a href=/behind>x</a>")
		}
	}
	for _, around := range [][2]string{{"<a href=\"/in?", "\">"}, {"<a href='/in?", "'>"}, {"<a href=/in?", ">"}} {
		docs = append(docs, around[0]+c.Input+around[1]+"<a href=/behind>x</a>")
	}
	return docs
}

// tokenizerInputs scores every input in all of its settings: a case passes if the two readers agree about each.
func tokenizerInputs(data fs.FS) (s score, err error) {
	all, err := readTokenCases(data)
	j := newJudges()
	for _, c := range all {
		got, want, asked := "", "", false
		for _, doc := range c.documents() {
			if unjudged(doc) {
				continue
			}
			asked = true
			if got, want = j.ours(doc), j.theirs(doc); got != want {
				c.name += fmt.Sprintf(": %+q", doc)
				break
			}
		}
		if !asked {
			s.skipped++
			continue
		}
		s.judge(c.name, got, want)
	}
	return s, err
}
