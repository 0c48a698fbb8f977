package crawl

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"orbweaver/internal/textfile"
)

// TokenName is the file with the token of a crawl that listens on loopback, within the crawl directory.
const TokenName = "control.token"

// Shortest and longest token, in bytes.
const (
	tokenMin = 16
	tokenMax = 1 << 10
)

// TokenFile is where the token of the crawl in dir lies when it was not told otherwise.
func TokenFile(dir string) string { return filepath.Join(dir, TokenName) }

// newToken makes a token for the crawl in dir and keeps it in TokenFile, which its owner alone may read. One that is
// there is replaced: it is good for one run.
func newToken(dir string) (token string, err error) {
	token = rand.Text()
	f, err := os.CreateTemp(dir, TokenName+".*") // mode 0600, and never through a link in its place
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(token + "\n")
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), TokenFile(dir))
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return token, nil
}

// ReadToken reads a token from the first line of a file.
func ReadToken(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	lines := textfile.Read(f, tokenMax+1)
	lines.Scan()
	if err := lines.Err(); err != nil {
		return "", err
	}
	line := lines.Text()
	if len(line) < tokenMin || len(line) > tokenMax ||
		bytes.ContainsFunc(line, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf(
			"%s: the first line is no token: want %d to %d visible characters of ASCII", name, tokenMin, tokenMax,
		)
	}
	return string(line), nil
}
