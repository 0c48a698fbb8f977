package message_test

import (
	"strings"
	"testing"

	"orbweaver/engine/cluster/message"
	"orbweaver/internal/urlx"
)

// The question about a URL comes back as it was asked. What is no URL in normal form is refused.
func TestURLQuestion(t *testing.T) {
	const url = "http://a.test/x?y=%C3%A9"
	question := message.AppendURLQuestion(nil, []byte(url))
	if got, err := message.ReadURLQuestion(question[1:]); err != nil || string(got) != url ||
		question[0] != message.QuestionURL {
		t.Errorf("%q, %v", got, err)
	}
	for _, bad := range []string{
		"", "\x01", "\x02http://a.test/", "\x01http://A.test/", "\x01a.test", "\x01http://a.test",
		"\x01http://a.test/" + strings.Repeat("x", urlx.LengthMax),
	} {
		if url, err := message.ReadURLQuestion([]byte(bad)); err == nil {
			t.Errorf("%.40q: %q", bad, url)
		}
	}
}
