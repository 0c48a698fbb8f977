package textfile

import (
	"bytes"
	"io"
)

// Decode returns a whole text as UTF-8 without a byte order mark, with LF at the end of each line.
func Decode(text []byte) ([]byte, error) {
	text, err := io.ReadAll(newDecoder(bytes.NewReader(text)))
	if err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r\n"), []byte{'\n'}), []byte{'\r'}, []byte{'\n'}), nil
}
