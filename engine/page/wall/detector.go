package wall

import (
	"bytes"
	"slices"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
)

// bodyMax is the largest body in bytes, as sent and decoded, that is searched for a marker or a title.
const bodyMax = 64 << 10

// Table is a list of rules. It is made once, and then read-only.
type Table struct {
	byField []rule                    // those that need a header field
	anyHead []rule                    // the others: each has statuses
	lengths [32]uint64                // of the fields of byField, as bits, by their first letter
	ofBody  [statusMost/64 + 1]uint64 // the statuses of anyHead, as bits
}

// BuiltIn returns the rules that each crawl has.
func BuiltIn() *Table { return newTable(builtIn()) }

// None returns a table without rules.
func None() *Table { return newTable(nil) }

// Off is the value of --walls for None.
const Off = "off"

func newTable(rules []rule) *Table {
	t := new(Table)
	for _, r := range rules {
		if r.field == "" {
			t.anyHead = append(t.anyHead, r)
			for _, status := range r.statuses {
				t.ofBody[status/64] |= 1 << (status % 64)
			}
			continue
		}
		t.byField = append(t.byField, r)
		t.lengths[slotOf(r.field[0])] |= 1 << (len(r.field) & 63)
	}
	return t
}

// slotOf is the number of a letter, in any case; that of another byte may be the one of a letter.
func slotOf(c byte) byte { return c & 31 }

// asksField reports whether a rule may be about the field in this line, by its first letter and its length.
func (t *Table) asksField(line []byte) (colon int, ok bool) {
	if len(line) == 0 {
		return 0, false
	}
	lengths := t.lengths[slotOf(line[0])]
	if lengths == 0 {
		return 0, false
	}
	colon = bytes.IndexByte(line, ':')
	return colon, colon > 0 && lengths&(1<<(colon&63)) != 0
}

// IsEmpty reports whether there are no rules.
func (t *Table) IsEmpty() bool { return len(t.byField) == 0 && len(t.anyHead) == 0 }

// asksBody reports whether a rule for any head is about answers with this status.
func (t *Table) asksBody(status int) bool {
	return status >= 0 && status <= statusMost && t.ofBody[status/64]&(1<<(status%64)) != 0
}

// Detector detects walls. It is for one goroutine.
type Detector struct {
	decoder *coding.Decoder
	body    []byte // of the Page in hand
	hasBody bool   // body is that of the Page in hand
}

// NewDetector returns a Detector.
func NewDetector() *Detector { return &Detector{decoder: coding.New(coding.Options{SizeMax: bodyMax})} }

// Service returns the service whose wall p is, by the rules of t; "" for a page.
func (d *Detector) Service(t *Table, p *fetch.Page) string {
	service, _ := d.Find(t, p)
	return service
}

// Find is Service, and returns the place of the rule that decides.
func (d *Detector) Find(t *Table, p *fetch.Page) (service, place string) {
	if !p.HasHead() {
		return "", ""
	}
	d.body, d.hasBody = nil, false
	// Lines and not Head.Fields: that takes twice the time here, and five allocations for each page.
	for rest := []byte(p.Head()); len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		rest = after
		colon, ok := t.asksField(line)
		if !ok {
			continue
		}
		name, value := line[:colon], line[colon+1:]
		for i := range t.byField {
			r := &t.byField[i]
			if len(r.field) != len(name) || !hasPrefix(name, r.field) {
				continue
			}
			if r.hasStatus(p.Status) && r.hasValue(value) && d.hasBodyOf(r, p) {
				return r.service, r.place
			}
		}
	}
	if !t.asksBody(p.Status) {
		return "", ""
	}
	for i := range t.anyHead {
		if r := &t.anyHead[i]; r.hasStatus(p.Status) && d.hasBodyOf(r, p) {
			return r.service, r.place
		}
	}
	return "", ""
}

func (r *rule) hasStatus(status int) bool {
	return r.statuses == nil || slices.Contains(r.statuses, status)
}

func (r *rule) hasValue(value []byte) bool {
	if r.value == "" {
		return true
	}
	if r.field == location {
		value, _, _ = bytes.Cut(value, []byte{'?'})
	}
	return contains(value, r.value)
}

// hasBodyOf reports whether the body of p fits a rule.
func (d *Detector) hasBodyOf(r *rule, p *fetch.Page) bool {
	if r.marker == "" && r.titles == nil {
		return true
	}
	if r.bodyMost > 0 && p.PayloadLen > r.bodyMost {
		return false
	}
	body := d.bodyOf(p)
	switch {
	case !bytes.Contains(body, []byte(r.marker)):
		return false
	case r.without != "" && bytes.Contains(body, []byte(r.without)):
		return false
	default:
		return r.titles == nil || r.hasTitle(titleOf(body))
	}
}

// LeadsToLogIn reports whether the target of a redirect has the name of a log-in or consent page in its host or path.
// That alone is no wall: see site.NoteLogIn.
func LeadsToLogIn(target []byte) bool {
	target, _, _ = bytes.Cut(target, []byte{'?'})
	for _, name := range [...]string{
		"login", "log-in", "log_in", "logon", "signin", "sign-in", "sign_in", "authwall", "/auth/", "/oauth", "/sso",
		"//sso.", "/saml", "/cas/", "consent", "cookiewall", "cookie-wall", "anmelden", "connexion",
	} {
		if contains(target, name) {
			return true
		}
	}
	return false
}

// bodyOf returns the decoded body; nothing if it is too long.
func (d *Detector) bodyOf(p *fetch.Page) []byte {
	if d.hasBody || p.PayloadLen > bodyMax {
		return d.body
	}
	d.body, _ = p.Decoded(d.decoder)
	d.hasBody = true
	return d.body
}

func (r *rule) hasTitle(title []byte) bool {
	return slices.ContainsFunc(r.titles, func(begin string) bool {
		return len(title) >= len(begin) && hasPrefix(title, begin)
	})
}

// titleOf returns the first title of a page of HTML, without the blanks before it.
func titleOf(body []byte) []byte {
	const tag = "<title"
	for {
		at := bytes.IndexByte(body, '<')
		if at < 0 || len(body)-at < len(tag) {
			return nil
		}
		if body = body[at:]; !hasPrefix(body, tag) {
			body = body[1:]
			continue
		}
		_, title, _ := bytes.Cut(body, []byte{'>'})
		title, _, _ = bytes.Cut(title, []byte{'<'})
		return bytes.TrimLeft(title, " \t\r\n")
	}
}

// contains reports whether a value has a part, in lower case, in any case. Of long values the first bytes count.
func contains(value []byte, part string) bool {
	value = value[:min(len(value), valueMax)]
	for i := 0; i+len(part) <= len(value); i++ {
		if hasPrefix(value[i:], part) {
			return true
		}
	}
	return false
}

// hasPrefix reports whether text begins with letters that are in lower case, in any case. Text is not shorter.
func hasPrefix(text []byte, letters string) bool {
	for i := range len(letters) {
		c := text[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != letters[i] {
			return false
		}
	}
	return true
}

// valueMax is how many bytes of the value of a field are looked at.
const valueMax = 256

// statusMost is the largest status of a rule.
const statusMost = 999
