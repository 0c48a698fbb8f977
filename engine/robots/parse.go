package robots

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"time"
)

// Limits of what is read. RFC 9309 asks for at least 500 KiB; the length of a line is the one others cut at too (eight
// times the longest URL that a browser once took).
const (
	bodyMax = 500 << 10
	lineMax = 8*2083 - 1
)

// Parse reads a robots.txt and keeps the rules for agent, a product token such as "orbweaver". It borrows body, of which
// the first 500 KiB count, up to the last line end therein. It has no errors: a line that says nothing is passed over.
func Parse(body []byte, agent string) *Rules {
	p := parser{agent: agent}
	body = cutBody(body)
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
	return p.finish()
}

// cutBody removes the byte order mark and what is beyond the limit.
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

// group is what the lines of some groups say.
type group struct {
	rules []rule
	delay time.Duration
	asked bool // there was a crawl delay
}

// parser keeps the state of Parse between lines.
type parser struct {
	agent    string
	specific group // of all groups that name the agent
	global   group // of all groups for "*"
	sitemaps [][]byte

	inSpecific, inGlobal bool // whom the group at hand is for
	named                bool // some group has named the agent, be it without any rules
	ruled                bool // the group at hand has rules, so that the next user-agent line begins another
}

// line takes one line of the file.
func (p *parser) line(s []byte, number int) {
	if bytes.IndexByte(s, 0) >= 0 {
		s = bytes.ReplaceAll(s, []byte{0}, nil) // of a file in UTF-16 this leaves what there is in ASCII
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
		p.userAgent(value)
	case fieldAllow:
		p.rule(rule{line: uint64(number), allow: true, text: s}, value)
	case fieldDisallow:
		p.rule(rule{line: uint64(number), text: s}, value)
	case fieldDelay:
		p.delay(value)
	case fieldSitemap:
		if len(value) > 0 {
			p.sitemaps = append(p.sitemaps, value)
		}
	}
}

// userAgent takes the value of a user-agent line.
func (p *parser) userAgent(value []byte) {
	if p.ruled {
		p.inSpecific, p.inGlobal, p.ruled = false, false, false
	}
	if len(value) > 0 && value[0] == '*' && (len(value) == 1 || bytes.IndexByte([]byte(blanks), value[1]) >= 0) {
		p.inGlobal = true
		return
	}
	if token := productToken(value); len(token) > 0 && bytes.EqualFold(token, []byte(p.agent)) {
		p.inSpecific, p.named = true, true
	}
}

// productToken returns the part of a user-agent value that names the product: "Bot" of "Bot/1.2 (x)".
func productToken(value []byte) []byte {
	for i, c := range value {
		if c != '-' && c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') {
			return value[:i]
		}
	}
	return value
}

// rule takes an allow or disallow line and its value, the path.
func (p *parser) rule(r rule, path []byte) {
	if !p.inSpecific && !p.inGlobal {
		return
	}
	p.ruled = true
	if len(path) == 0 || path[0] != '/' && path[0] != '*' {
		return // the empty path matches nothing, and one that does not begin at the root cannot match
	}
	r.pattern = appendPattern(nil, path)
	p.keep(r)
	if folder, ok := cutIndex(path); ok && r.allow {
		r.pattern = append(appendPattern(nil, folder), opEnd)
		p.keep(r)
	}
}

// keep adds a rule to the groups at hand.
func (p *parser) keep(r rule) {
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

// cutIndex cuts the name of an index page off a path: who allows that page allows what it is shown for.
func cutIndex(path []byte) (folder []byte, ok bool) {
	slash := bytes.LastIndexByte(path, '/')
	if slash < 0 {
		return nil, false
	}
	name := string(path[slash+1:])
	return path[:slash+1], name == "index.html" || name == "index.htm"
}

// delay takes the value of a crawl-delay line. It does not end the list of a group's agents: RFC 9309 wants lines that
// it does not know to leave the groups as they are. Of several delays the longest counts.
func (p *parser) delay(value []byte) {
	d, ok := parseDelay(value)
	if !ok {
		return
	}
	if p.inSpecific {
		p.specific.delay, p.specific.asked = max(p.specific.delay, d), true
	}
	if p.inGlobal {
		p.global.delay, p.global.asked = max(p.global.delay, d), true
	}
}

// finish encodes what applies to the agent.
func (p *parser) finish() *Rules {
	g := p.global
	if p.named {
		g = p.specific
	}
	flags := byte(0)
	if g.asked {
		flags |= flagDelay
	}
	data := binary.AppendUvarint([]byte{formatVersion, flags}, uint64(g.delay.Milliseconds()))
	data = appendBytes(data, appendRules(nil, g.rules))
	data = binary.AppendUvarint(data, uint64(len(p.sitemaps)))
	for _, s := range p.sitemaps {
		data = appendBytes(data, s)
	}
	return mustDecode(data)
}

// appendRules appends the rules to dst, the strongest first: longer patterns before shorter ones, allow before disallow,
// earlier lines before later ones. A rule whose pattern has stood before can never decide and is left out.
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
