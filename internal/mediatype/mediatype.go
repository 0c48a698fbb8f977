package mediatype

import (
	"bytes"
	"strings"
)

// Type is a media type.
type Type struct {
	Essence string // type/subtype, in lower case
	Params  []Param
}

// Param is a parameter. Its name is in lower case.
type Param struct{ Name, Value string }

// Charset returns the value of the parameter charset; "" if there is none.
func (t *Type) Charset() string {
	for _, p := range t.Params {
		if p.Name == charset {
			return p.Value
		}
	}
	return ""
}

const charset = "charset"

// Parse parses a media type. The bytes of s are code points, as in a header field.
func Parse(s string) (t Type, ok bool) {
	s = strings.Trim(s, whitespace)
	kind, rest, found := strings.Cut(s, "/")
	if !found || !isToken(kind) {
		return t, false
	}
	sub, params, _ := strings.Cut(rest, ";")
	if sub = strings.TrimRight(sub, whitespace); !isToken(sub) {
		return t, false
	}
	t.Essence = lower(kind + "/" + sub)
	for params != "" {
		var name, value string
		var isValid bool
		if name, value, params, isValid = cutParam(params); isValid {
			t.add(lower(name), value)
		}
	}
	return t, true
}

// add adds a parameter, unless there is one with this name.
func (t *Type) add(name, value string) {
	for _, p := range t.Params {
		if p.Name == name {
			return
		}
	}
	t.Params = append(t.Params, Param{name, value})
}

// cutParam cuts the first parameter off.
func cutParam(s string) (name, value, rest string, isValid bool) {
	s = strings.TrimLeft(s, whitespace)
	end := strings.IndexAny(s, ";=")
	if end < 0 {
		return "", "", "", false
	}
	name, rest = s[:end], s[end+1:]
	switch {
	case s[end] == ';':
		return "", "", rest, false
	case strings.HasPrefix(rest, `"`):
		value, rest = cutQuoted(rest)
		_, rest, _ = strings.Cut(rest, ";")
	default:
		value, rest, _ = strings.Cut(rest, ";")
		if value = strings.TrimRight(value, whitespace); value == "" {
			return "", "", rest, false
		}
	}
	return name, value, rest, isToken(name) && isQuotable(value)
}

// cutQuoted cuts a string in quotes off, and removes its escapes. The closing quote may be missing.
func cutQuoted(s string) (value, rest string) {
	s = s[1:]
	end := strings.IndexAny(s, `"\`)
	if end >= 0 && s[end] == '"' {
		return s[:end], s[end+1:]
	}
	var b strings.Builder
	for {
		end := strings.IndexAny(s, `"\`)
		if end < 0 {
			b.WriteString(s)
			return b.String(), ""
		}
		b.WriteString(s[:end])
		isEscape := s[end] == '\\'
		s = s[end+1:]
		switch {
		case !isEscape:
			return b.String(), s
		case s == "":
			b.WriteByte('\\')
			return b.String(), ""
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
}

// String returns the type as a header field has it.
func (t *Type) String() string {
	var b strings.Builder
	b.WriteString(t.Essence)
	for _, p := range t.Params {
		b.WriteString(";" + p.Name + "=")
		if isToken(p.Value) {
			b.WriteString(p.Value)
			continue
		}
		b.WriteString(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p.Value) + `"`)
	}
	return b.String()
}

// Extract returns the media type that the values of Content-Type have, joined by ", ". It is nil if none of them is
// valid. A single valid value is returned as it is, without outer blanks; it aliases value. Otherwise the result is in
// the form of Type.String.
func Extract(value []byte) []byte {
	value = bytes.Trim(value, whitespace)
	if isPlain(value) {
		return value
	}
	var found Type
	var label string // the charset that a value without one gets from one before, of the same type
	for one, rest := "", string(value); rest != ""; {
		one, rest = cutValue(rest)
		t, ok := Parse(one)
		if !ok || t.Essence == "*/*" {
			continue
		}
		if t.Essence != found.Essence {
			label = ""
		}
		if own := t.Charset(); own != "" {
			label = own
		} else if label != "" {
			t.add(charset, label)
		}
		found = t
	}
	if found.Essence == "" {
		return nil
	}
	return []byte(found.String())
}

// Declared is Extract without the types that say that the type is not known: browsers look at the bytes then
// (https://mimesniff.spec.whatwg.org, section 7).
func Declared(value []byte) []byte {
	found := Extract(value)
	switch essence, _ := Split(found); len(essence) {
	case len(unknown), len(applicationUnknown):
		if bytes.EqualFold(essence, []byte(unknown)) || bytes.EqualFold(essence, []byte(applicationUnknown)) {
			return nil
		}
	}
	return found
}

const unknown, applicationUnknown = "unknown/unknown", "application/unknown"

// cutValue cuts the first value off a list; a comma in quotes ends none.
func cutValue(s string) (value, rest string) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ',':
			return s[:i], s[i+1:]
		case '"':
			for i++; i < len(s) && s[i] != '"'; i++ {
				if s[i] == '\\' {
					i++
				}
			}
		}
	}
	return s, ""
}

// isPlain reports whether a value is one valid type, with nothing that needs more than a look.
func isPlain(value []byte) bool {
	slash := 0
	for slash < len(value) && tokens[value[slash]] {
		slash++
	}
	end := slash + 1
	for end < len(value) && tokens[value[end]] {
		end++
	}
	if slash == 0 || end <= slash+1 || value[slash] != '/' {
		return false
	}
	rest := value[end:]
	if len(rest) == 0 {
		return end != len("*/*") || value[0] != '*' || value[2] != '*'
	}
	for i := 0; rest[i] != ';'; i++ {
		if !isWhitespace(rest[i]) || i == len(rest)-1 {
			return false
		}
	}
	return bytes.IndexByte(rest, ',') < 0 && bytes.IndexByte(rest, '"') < 0 && value[0] != '*'
}

// Essence returns a type without its parameters, in lower case. It need not be a valid one.
func Essence(value []byte) string {
	essence, _, _ := bytes.Cut(value, []byte{';'})
	return string(bytes.ToLower(bytes.Trim(essence, whitespace)))
}

// Split returns the essence of a type that Extract returned, as it is written there, and its charset. They alias value,
// unless the charset has escapes. Both are nil if value is no media type.
func Split(value []byte) (essence, label []byte) {
	essence, params, _ := bytes.Cut(value, []byte{';'})
	essence = bytes.Trim(essence, whitespace)
	slash := bytes.IndexByte(essence, '/')
	if slash < 0 || !isToken(essence[:slash]) || !isToken(essence[slash+1:]) {
		return nil, nil
	}
	for len(params) > 0 {
		params = bytes.TrimLeft(params, whitespace)
		end := bytes.IndexAny(params, ";=")
		if end < 0 {
			break
		}
		if params[end] == '=' && len(params[:end]) == len(charset) && bytes.EqualFold(params[:end], []byte(charset)) {
			return essence, labelOf(params)
		}
		if params = params[end:]; bytes.HasPrefix(params, []byte(`="`)) {
			_, quoted := cutQuoted(string(params[1:]))
			params = params[len(params)-len(quoted):]
		}
		_, params, _ = bytes.Cut(params, []byte{';'})
	}
	return essence, nil
}

// labelOf returns the value of the first parameter, or nil if the type has none that is valid.
func labelOf(params []byte) []byte {
	value, _, _ := bytes.Cut(params[len(charset)+1:], []byte{';'})
	value = bytes.TrimRight(value, whitespace)
	if isToken(value) {
		return value
	}
	t, _ := Parse("x/x;" + string(params))
	if label := t.Charset(); label != "" {
		return []byte(label)
	}
	return nil
}

// Hint returns what an invalid value seems to mean: the type at its beginning, as in "text/css charset=utf-8". It is
// nil if there is none. It says less than the bytes of a body.
func Hint(value []byte) []byte {
	value = bytes.Trim(value, whitespace)
	if end := bytes.IndexAny(value, " \t,;:("); end >= 0 {
		value = value[:end]
	}
	if essence, _ := Split(value); len(essence) > 0 && essence[0] != '*' {
		return essence
	}
	return nil
}

const whitespace = "\n\r\t "

func isWhitespace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// tokens has the bytes of HTTP tokens.
var tokens = tokenTable() //nolint:gochecknoglobals // a table

func tokenTable() (table [256]bool) {
	for c := range table {
		table[c] = c < 0x80 && (c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' ||
			strings.IndexByte("!#$%&'*+-.^_`|~", byte(c)) >= 0)
	}
	return table
}

func isToken[T string | []byte](s T) bool {
	for i := range len(s) {
		if !tokens[s[i]] {
			return false
		}
	}
	return len(s) > 0
}

// isQuotable reports whether a string in quotes may have the bytes of s.
func isQuotable(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// lower returns s with ASCII letters in lower case.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
