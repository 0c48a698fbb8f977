package parse

import (
	"bytes"
	"io"

	"golang.org/x/text/transform"
)

// UTF8Reader returns what makes a file of XML or plain text UTF-8; nil if it is UTF-8. It borrows start, the beginning
// of the file, and contentType. The bytes win where the header contradicts them: UTF-16 is known by its zeros.
func (s *Scanner) UTF8Reader(start, contentType []byte) func(io.Reader) io.Reader {
	_, label := splitContentType(contentType)
	text := &s.markup.elements.links.text
	text.begin()
	isWide := false
	switch {
	case len(start) < 4: // too short to tell
	case start[0] != 0 && start[1] == 0 && start[2] != 0 && start[3] == 0:
		label, isWide = []byte("utf-16le"), true
	case start[0] == 0 && start[1] != 0 && start[2] == 0 && start[3] != 0:
		label, isWide = []byte("utf-16be"), true
	}
	isMarked := bytes.HasPrefix(start, []byte("\xFE\xFF")) || bytes.HasPrefix(start, []byte("\xFF\xFE"))
	if c, _ := text.labels.lookup(label); !isWide && !isMarked && (c.name == "utf-16le" || c.name == "utf-16be") {
		label = nil
	}
	text.chooseCharset(start, label, XML, &s.markup.elements.attributes)
	decoder := text.charset.decoder
	if decoder == nil {
		return nil
	}
	return func(file io.Reader) io.Reader {
		decoder.Reset()
		return transform.NewReader(file, decoder)
	}
}
