package filter

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

// Score says how soon a link is fetched: --score. It is safe for concurrent use.
type Score struct {
	predicate[scoreFacts]
	domains                         bool // via_domain or same_domain is used
	asksAnchor, asksTitle, asksText bool
}

type scoreFacts struct {
	followFacts
	Anchor  string           `expr:"anchor"`
	Title   string           `expr:"via_title"`
	CountOf func(string) int `expr:"via_count"`
}

// ScoredPage is a page with what the scores of its links need. It belongs to one goroutine. The zero value is ready for
// Score.From.
type ScoredPage struct {
	via    Via
	title  string
	text   []byte // in lower case
	counts map[string]int
}

// CompileScore compiles an expression that yields a number or a bool. It keeps seeds, which may be nil if there are
// none.
func CompileScore(text string, seeds *Seeds) (*Score, error) {
	s := new(Score)
	if err := s.compileNumber(text, seeds); err != nil {
		return nil, err
	}
	if err := countsConstants(s.program.Node()); err != nil {
		return nil, err
	}
	s.domains = s.asks.any("via_domain", "same_domain")
	s.need.domain = s.need.domain || s.asks.any("same_domain")
	s.asksAnchor, s.asksTitle, s.asksText = s.asks.any("anchor"), s.asks.any("via_title"), s.asks.any("via_count")
	return s, nil
}

// AsksAnchor reports whether the expression uses the text of the link.
func (s *Score) AsksAnchor() bool { return s.asksAnchor }

// AsksText reports whether it uses the text of the page.
func (s *Score) AsksText() bool { return s.asksText }

// From sets p to a page, for its links. It borrows url and r for the call.
func (s *Score) From(p *ScoredPage, url []byte, r *Response) {
	*p = ScoredPage{text: p.text[:0], counts: p.counts}
	clear(p.counts)
	p.via.set(url, r, s.seeds, s.domains)
}

// Read sets what the page says. It borrows title and text for the call.
func (s *Score) Read(p *ScoredPage, title, text []byte, needsRender bool) {
	p.via.NeedsRender = needsRender
	if s.asksTitle {
		p.title = string(bytes.ToLower(title))
	}
	if s.asksText {
		p.text = append(p.text[:0], bytes.ToLower(text)...)
	}
}

// count returns how often a word is in the text of the page.
func (p *ScoredPage) count(word string) int {
	n, isKnown := p.counts[word]
	if !isKnown {
		if n = countWord(p.text, bytes.ToLower([]byte(word))); p.counts == nil {
			p.counts = map[string]int{}
		}
		p.counts[word] = n
	}
	return n
}

// countWord returns how often a text has a word, or several words in a row. A part of a longer word does not count.
func countWord(text, word []byte) (n int) {
	for at := 0; len(word) > 0; {
		found := bytes.Index(text[at:], word)
		if found < 0 {
			break
		}
		begin, end := at+found, at+found+len(word)
		if at = begin + 1; isBorder(text, begin) && isBorder(text, end) {
			n, at = n+1, end
		}
	}
	return n
}

// isBorder reports whether a place in a text is not within a word.
func isBorder(text []byte, at int) bool {
	before, _ := utf8.DecodeLastRune(text[:at])
	after, _ := utf8.DecodeRune(text[at:])
	return !isOfWord(before) || !isOfWord(after)
}

// isOfWord reports whether words are made of a character: a letter, a digit or an accent. Of scripts without spaces
// between words, each character is a word.
func isOfWord(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)) && !unicode.In(r, unicode.Han,
		unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// Of returns the score of a link of the page: from 0 to most. anchor is the text of the link. A failed evaluation is
// counted, and yields 0.
func (s *Score) Of(page *ScoredPage, link Link, anchor []byte, most int) int {
	p, ok := split(link.URL)
	if !ok {
		return 0
	}
	e := s.begin()
	defer s.machines.Put(e)
	facts := &e.facts
	facts.fill(link.URL, p, link.Way, s.need, s.seeds)
	facts.fillLink(&page.via, &link, s.domains)
	facts.Anchor, facts.Title, facts.CountOf = "", page.title, page.count
	if s.asksAnchor {
		facts.Anchor = string(bytes.ToLower(bytes.TrimSpace(anchor)))
	}
	out, err := e.machine.Run(s.program, facts)
	n, ok := numberOf(out)
	if err != nil || !ok {
		s.errors.Add(1)
		return 0
	}
	return int(min(max(n, 0), float64(most)))
}

// countsConstants returns an error if via_count counts a word that is not written out: its cost would be that of the
// text of the page for each link.
func countsConstants(root ast.Node) error {
	var c countCalls
	ast.Walk(&root, &c)
	if c.calls != c.named {
		return fmt.Errorf(`%w: via_count takes a word that is written out, as via_count("word")`, ErrExpression)
	}
	return nil
}

// countCalls counts the uses of via_count, and its calls with a constant.
type countCalls struct{ named, calls int }

// Visit counts a node.
func (c *countCalls) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if n.Value == "via_count" || n.Value == "$env" {
			c.named++
		}
	case *ast.CallNode:
		callee, isName := n.Callee.(*ast.IdentifierNode)
		if !isName || callee.Value != "via_count" || len(n.Arguments) != 1 {
			return
		}
		if word, isText := n.Arguments[0].(*ast.StringNode); isText && word.Value != "" {
			c.calls++
		}
	}
}
