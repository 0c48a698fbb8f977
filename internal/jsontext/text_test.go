package jsontext

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// check compares a string with what encoding/json reads, and the two forms with each other.
func check(t *testing.T, s string) {
	t.Helper()
	text := AppendString(nil, s)
	var got, want string
	b, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(b, &want)
	}
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	if err != nil || got != want {
		t.Errorf("%q: %s is read as %q, %v", s, text, got, err)
	}
	if bytes.ContainsAny(text, "\n\x7f\u2028\u2029") {
		t.Errorf("%q: %s contains what must be escaped", s, text)
	}
	if both := AppendString([]byte("x"), []byte(s)); string(both) != "x"+string(text) {
		t.Errorf("%q: bytes give %s", s, both)
	}
}

// Strings are read as those of encoding/json are.
func TestAppendString(t *testing.T) {
	for _, s := range []string{
		"", "plain", "a\"b\\c", "\x00\x01\b\f\n\r\t\x1f\x7f", "<&>", "gr\u00fc\u00df dich, \u4e16\u754c \U0001f577",
		"\xff", "a\xc3", "\xed\xa0\x80", "\u2028\u2029", strings.Repeat("x", 1000) + "\"",
	} {
		check(t, s)
	}
	if got := string(AppendString(nil, "<a href=\"\t\">\n")); got != `"<a href=\"\u0009\">\n"` {
		t.Error(got)
	}
}

func FuzzAppendString(f *testing.F) {
	f.Add("a\xffb")
	f.Fuzz(check)
}

// Members are separated, and objects nest.
func TestObject(t *testing.T) {
	var o Object
	o.Open('{')
	o.String("a", "1")
	o.Name("b")
	o.Open('[')
	for range 2 {
		o.Open('{')
		o.Bytes("c", []byte("d"))
		o.Close('}')
	}
	o.Close(']')
	o.Name("e")
	o.Open('{')
	o.Close('}')
	o.Close('}')
	const want = `{"a":"1","b":[{"c":"d"},{"c":"d"}],"e":{}}`
	if string(o.Text) != want {
		t.Errorf("%s, want %s", o.Text, want)
	}
}
