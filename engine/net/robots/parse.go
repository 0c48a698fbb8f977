package robots

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"time"
	"unicode/utf8"
)

// Input limits. RFC 9309 requires at least 500 KiB. The limit of a line is that of Google's parser: eight times the
// longest URL of an old browser.
const (
	bodyMax = 500 << 10
	lineMax = 8*2083 - 1
)

// Parse parses a robots.txt and returns the rules for agent, a product token such as "orbweaver". It borrows body and
// reads its first 500 KiB, up to the last line end. It never fails: invalid lines are ignored.
func Parse(body []byte, agent string) *Rules {
	p := parser{agent: agent}
	p.lines(cutBody(body))
	return p.finish()
}

// lines parses the lines of a body.
func (p *parser) lines(body []byte) {
	for line := 1; len(body) > 0; line++ {
		n := bytes.IndexAny(body, "\r\n")
		if n < 0 {
			n = len(body)
		}
		p.line(body[:n], line)
		if bytes.HasPrefix(body[n:], []byte("\r\n")) {
			n++
		}
		body = body[min(n+1, len(body)):]
	}
}

// cutBody removes the byte order mark and what exceeds the limit.
func cutBody(body []byte) []byte {
	if len(body) > bodyMax {
		next := body[bodyMax]
		body = body[:bodyMax]
		if end := bytes.LastIndexAny(body, "\r\n"); end >= 0 && next != '\r' && next != '\n' {
			body = body[:end+1]
		}
	}
	for _, mark := range []string{"\xef\xbb\xbf", "\xff\xfe", "\xfe\xff"} {
		body = bytes.TrimPrefix(body, []byte(mark))
	}
	return body
}

// group holds the lines of all groups for one agent.
type group struct {
	rules     []rule
	delay     time.Duration
	delayLine uint64 // of the Crawl-delay that counts, from 1; 0: there is none
}

// setDelay takes a Crawl-delay. The longest of several counts.
func (g *group) setDelay(d time.Duration, line int) {
	if g.delayLine == 0 || d > g.delay {
		g.delay, g.delayLine = d, uint64(line)
	}
}

// parser keeps the state of Parse between lines.
type parser struct {
	agent    string
	specific group // of all groups that name the agent
	global   group // of all groups for "*"
	sitemaps [][]byte

	inSpecific, inGlobal bool // the current group is for the agent; it is for "*"
	isNamed              bool // a group names the agent, perhaps without rules
	hasRules             bool // the current group has rules, so the next user-agent line begins another group
	hasAgent             bool // a line names an agent
}

// line parses one line.
func (p *parser) line(s []byte, number int) {
	if bytes.IndexByte(s, 0) >= 0 {
		s = bytes.ReplaceAll(s, []byte{0}, nil) // leaves the ASCII characters of a file in UTF-16
	}
	s = s[:min(len(s), lineMax)]
	if comment := bytes.IndexByte(s, '#'); comment >= 0 {
		s = s[:comment]
	}
	s = bytes.Trim(s, blanks)
	key, value, ok := cutField(s)
	if !ok {
		return
	}
	switch fieldOf(key) {
	case fieldAgent:
		p.hasAgent = true
		p.userAgent(value)
	case fieldAllow:
		p.rule(rule{line: uint64(number), allow: true, text: s}, value)
	case fieldDisallow:
		p.rule(rule{line: uint64(number), text: s}, value)
	case fieldDelay:
		p.delay(value, number)
	case fieldSitemap:
		if len(value) > 0 {
			p.sitemaps = append(p.sitemaps, value)
		}
	}
}

// userAgent handles the value of a user-agent line.
func (p *parser) userAgent(value []byte) {
	if p.hasRules {
		p.inSpecific, p.inGlobal, p.hasRules = false, false, false
	}
	if len(value) > 0 && value[0] == '*' && (len(value) == 1 || bytes.IndexByte([]byte(blanks), value[1]) >= 0) {
		p.inGlobal = true
		return
	}
	if token := productToken(value); len(token) > 0 && bytes.EqualFold(token, []byte(p.agent)) {
		p.inSpecific, p.isNamed = true, true
	}
}

// productToken returns the product of a user-agent value: "Bot" for "Bot/1.2 (x)".
func productToken(value []byte) []byte {
	for i, c := range value {
		if c != '-' && c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') {
			return value[:i]
		}
	}
	return value
}

// rule handles an Allow or Disallow line; path is its value.
func (p *parser) rule(r rule, path []byte) {
	if !p.inSpecific && !p.inGlobal {
		return
	}
	p.hasRules = true
	if len(path) == 0 || path[0] != '/' && path[0] != '*' {
		return // an empty path matches nothing, and other paths must begin with / or *
	}
	r.pattern = appendPattern(nil, path)
	p.addRule(r)
	if folder, ok := cutIndex(path); ok && r.allow {
		r.pattern = append(appendPattern(nil, folder), opEnd)
		p.addRule(r)
	}
}

// addRule adds a rule to the current groups.
func (p *parser) addRule(r rule) {
	if bytes.Equal(r.text, r.appendPlain(nil)) {
		r.text = nil
	}
	if p.inSpecific {
		p.specific.rules = append(p.specific.rules, r)
	}
	if p.inGlobal {
		p.global.rules = append(p.global.rules, r)
	}
}

// cutIndex cuts the name of an index page off a path: a rule that allows the index page also allows the directory.
func cutIndex(path []byte) (folder []byte, ok bool) {
	slash := bytes.LastIndexByte(path, '/')
	if slash < 0 {
		return nil, false
	}
	name := string(path[slash+1:])
	return path[:slash+1], name == "index.html" || name == "index.htm"
}

// delay handles the value of a Crawl-delay line. Such a line does not end the list of a group's agents: by RFC 9309,
// unknown lines leave the groups unchanged.
func (p *parser) delay(value []byte, line int) {
	d, ok := parseDelay(value)
	if !ok {
		return
	}
	if p.inSpecific {
		p.specific.setDelay(d, line)
	}
	if p.inGlobal {
		p.global.setDelay(d, line)
	}
}

// finish encodes the rules for the agent.
func (p *parser) finish() *Rules {
	g := p.global
	if p.isNamed {
		g = p.specific
	}
	data := []byte{formatVersion, 0, 0}
	if g.delayLine > 0 {
		data = binary.AppendUvarint([]byte{formatDelay, flagDelay}, uint64(g.delay.Milliseconds()))
		data = binary.AppendUvarint(data, g.delayLine)
	}
	data = appendBytes(data, appendRules(nil, g.rules))
	data = binary.AppendUvarint(data, uint64(len(p.sitemaps)))
	for _, s := range p.sitemaps {
		data = appendBytes(data, s)
	}
	return mustDecode(data)
}

// appendRules appends the rules to dst in order of precedence: longer patterns first, Allow before Disallow, earlier
// lines first. It omits rules with a pattern that occurred before, since they never decide.
func appendRules(dst []byte, rules []rule) []byte {
	slices.SortStableFunc(rules, func(a, b rule) int {
		if c := cmp.Compare(len(b.pattern), len(a.pattern)); c != 0 {
			return c
		}
		if c := bytes.Compare(a.pattern, b.pattern); c != 0 {
			return c
		}
		if a.allow != b.allow {
			if a.allow {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.line, b.line)
	})
	rules = slices.CompactFunc(rules, func(a, b rule) bool { return bytes.Equal(a.pattern, b.pattern) })
	slices.SortStableFunc(rules, func(a, b rule) int {
		if c := cmp.Compare(len(b.pattern), len(a.pattern)); c != 0 || a.allow == b.allow {
			return c
		}
		if a.allow {
			return -1
		}
		return 1
	})
	for _, r := range rules {
		dst = r.append(dst)
	}
	return dst
}

// Directives are what a page asks of robots: the robots meta element and the X-Robots-Tag header.
type Directives uint8

// The known directives; all others tell search engines how to show a page.
const (
	NoFollow Directives = 1 << iota // do not follow the links of the page
	NoIndex                         // do not show the page
)

// ParseTag parses the value of one X-Robots-Tag field. agent is a product token. It returns the directives for all
// robots and for agent; the caller combines those of several fields. It borrows value.
//
// The value is a list separated by commas. "name:" before a directive makes it, and those after it, valid for that
// robot only: "noindex, otherbot: nofollow" has nofollow for otherbot only. Case does not matter.
func ParseTag(value []byte, agent string) (d Directives) {
	ours := true
	for len(value) > 0 {
		var one []byte
		one, value, _ = bytes.Cut(value, []byte(","))
		if name, rest, ok := bytes.Cut(one, []byte(":")); ok && !takesValue(bytes.Trim(name, blanks)) {
			name = bytes.Trim(name, blanks)
			if token := productToken(name); len(token) > 0 && (len(token) == len(name) || name[len(token)] == '/') {
				one, ours = rest, bytes.EqualFold(token, []byte(agent))
			}
		}
		if ours {
			d |= directive(bytes.Trim(one, blanks))
		}
	}
	return d
}

// directive parses a directive, or several that are separated by spaces.
func directive(words []byte) (d Directives) {
	for _, word := range bytes.FieldsFunc(words, func(r rune) bool { return r == ' ' || r == '\t' }) {
		switch {
		case bytes.EqualFold(word, []byte("none")):
			d |= NoFollow | NoIndex
		case bytes.EqualFold(word, []byte("nofollow")):
			d |= NoFollow
		case bytes.EqualFold(word, []byte("noindex")):
			d |= NoIndex
		}
	}
	return d
}

// takesValue reports whether a name before a colon is a directive and not a robot.
func takesValue(name []byte) bool {
	for _, one := range []string{"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"} {
		if bytes.EqualFold(name, []byte(one)) {
			return true
		}
	}
	return false
}

// RFC 9309 escapes non-ASCII bytes in rules and in paths before it compares them. URLs on the wire contain none. But
// people write some, and the RFC's authors do not treat them as equal to their escapes. Such a path is allowed only if
// both spellings are allowed; no rule matches the unescaped one by its text.

// decideWritten decides about a path that is not in canonical spelling and that firstMatch has allowed by the rule at
// offset at.
func (r *Rules) decideWritten(path []byte, at int) (allowed bool, by int) {
	if isASCII(path) {
		return true, at
	}
	var scratch [1024]byte
	if raw, by := firstMatch(r.rule, appendUnescaped(scratch[:0], path)); !raw {
		return false, by
	}
	return true, at
}

func isASCII(s []byte) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// appendUnescaped is appendCanonical, but leaves non-ASCII bytes as they are.
func appendUnescaped(dst, s []byte) []byte {
	for len(s) > 0 {
		n := 0
		for n < len(s) && s[n] < utf8.RuneSelf {
			n++
		}
		dst = appendCanonical(dst, s[:n])
		for s = s[n:]; len(s) > 0 && s[0] >= utf8.RuneSelf; s = s[1:] {
			dst = append(dst, s[0])
		}
	}
	return dst
}
