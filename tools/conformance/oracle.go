package main

import (
	"bytes"
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"orbweaver/engine/page/parse"
)

// Two readers of one document are compared: engine/page/parse, and a tokenizer of the HTML standard with no more around
// it than telling which attributes are links. Both give the links in order, as a URL parser would take them.

// linkAttributes are those that the two are compared by, in the order in which one element's are reported.
func linkAttributes() map[string][]string {
	return map[string][]string{
		"a": {"href"}, "area": {"href"}, "link": {"href"}, "img": {"src"}, "image": {"src"}, "script": {"src"},
		"frame": {"src"}, "iframe": {"src"}, "embed": {"src"}, "object": {"data"}, "video": {"src", "poster"},
		"audio": {"src"}, "source": {"src"}, "track": {"src"}, "body": {"background"}, "table": {"background"},
		"thead": {"background"}, "tbody": {"background"}, "tfoot": {"background"}, "tr": {"background"},
		"td": {"background"}, "th": {"background"},
	}
}

// judges holds both readers.
type judges struct {
	scanner *parse.Scanner
	links   map[string][]string
	// misread finds what the tokenizer of golang.org/x/net/html (v0.62.0) reads against the standard: in a script,
	// behind <!--, a "<" before anything but a letter or a slash does not end the comment.
	misread *regexp.Regexp
}

func newJudges() *judges {
	return &judges{
		scanner: parse.NewScanner(parse.Options{}), links: linkAttributes(),
		misread: regexp.MustCompile(`(?is)<script[\s/>].*<!--.*<[^a-z/]`),
	}
}

// unjudged says whether a document is one about which the tokenizer alone cannot say: SVG and MathML need a tree, and
// the parts of old pages are more than it knows.
func unjudged(doc string) bool {
	folded := strings.ToLower(doc)
	for _, mark := range []string{
		"<svg", "<math", "srcset", "style", "shadowrootmode", "<input", "http-equiv", "<noframes", "<noembed", "<!--[if",
		"cite=", "longdesc", "lowsrc", "dynsrc", "codebase", "archive", "<applet", "<param", "layer", "<bgsound",
		"<html manifest",
	} {
		if strings.Contains(folded, mark) {
			return true
		}
	}
	return false
}

// ours are the links that engine/page/parse finds.
func (j *judges) ours(doc string) string {
	res, err := j.scanner.Scan([]byte(doc), []byte("text/html; charset=utf-8"))
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, l := range res.Links {
		all = append(all, plainRef(string(l.Ref)))
	}
	return strings.Join(all, "\n")
}

// theirs are the links that the tokenizer finds. What stands in a template is no part of the page.
func (j *judges) theirs(doc string) string {
	z := html.NewTokenizer(bytes.NewReader([]byte(doc)))
	var all []string
	templates := 0
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return strings.Join(all, "\n")
		}
		t := z.Token()
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			switch t.Data {
			case "noscript":
				z.NextIsNotRawText() // no scripts are run here
			case "template":
				templates++
				continue
			}
			if templates == 0 {
				all = append(all, j.refsOf(t)...)
			}
		case html.EndTagToken:
			if t.Data == "template" && templates > 0 {
				templates--
			}
		default:
		}
	}
}

// refsOf gives the links of one tag. Of two attributes of one name the first counts.
func (j *judges) refsOf(t html.Token) (refs []string) {
	for _, key := range j.links[t.Data] {
		for _, a := range t.Attr {
			if a.Key != key {
				continue
			}
			ref := plainRef(strings.ReplaceAll(a.Val, "\x00", "\uFFFD")) // which the tokenizer leaves to others
			if !foreign(ref) && (ref != "" || t.Data == "a" || t.Data == "area") {
				refs = append(refs, ref)
			}
			break
		}
	}
	return refs
}

// plainRef does to a reference what every URL parser does first: off with white space and control characters around it,
// out with tabs and line ends.
func plainRef(ref string) string {
	ref = strings.TrimFunc(ref, func(r rune) bool { return r <= ' ' })
	return strings.NewReplacer("\t", "", "\n", "", "\r", "").Replace(ref)
}

// foreign says whether a reference names another scheme than http and https, and so is no link for a crawler.
func foreign(ref string) bool {
	scheme, _, ok := strings.Cut(ref, ":")
	if !ok || scheme == "" {
		return false
	}
	for i, c := range []byte(strings.ToLower(scheme)) {
		letter := c >= 'a' && c <= 'z'
		if !letter && (i == 0 || (c < '0' || c > '9') && c != '+' && c != '-' && c != '.') {
			return false
		}
	}
	return !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https")
}
