package message

import (
	"bytes"
	"fmt"

	"orbweaver/engine/peering"
	"orbweaver/internal/urlx"
)

// AppendURLQuestion appends the question what an agent knows about a URL, which is in normal form.
func AppendURLQuestion(dst, url []byte) []byte {
	return append(append(dst, QuestionURL, version), url...)
}

// ReadURLQuestion reads the content of the question, behind its kind. The URL is a copy.
func ReadURLQuestion(content []byte) (url []byte, err error) {
	if len(content) < 2 || len(content) > 1+urlx.LengthMax || content[0] != version {
		return nil, fmt.Errorf("%w: not a question about a URL: %.40q", peering.ErrMalformed, content)
	}
	if url, err = urlx.Normalize(nil, content[1:]); err != nil || !bytes.Equal(url, content[1:]) {
		return nil, fmt.Errorf("%w: a question about a URL that is not in normal form: %.200q",
			peering.ErrMalformed, content[1:])
	}
	return url, nil
}
