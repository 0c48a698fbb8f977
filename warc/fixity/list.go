package fixity

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// manifestForm is the value of "format" in the first line.
const manifestForm = "orbweaver-manifest-1"

// lineMost is the length in bytes of the longest line of a manifest.
const lineMost = 64 << 10

// ErrManifest is returned for a text that is no manifest.
var ErrManifest = errors.New("no manifest")

// List is the content of a manifest.
type List struct {
	FirstSerial uint32 // of the files that are listed; files before it are older than the manifest
	Files       []File // of a file for sha256sum, Bytes is -1 and Records is nil
}

type listHead struct {
	Format      string `json:"format"`
	FirstSerial uint32 `json:"since"`
}

type listLine struct {
	Name    string            `json:"name"`
	Bytes   int64             `json:"bytes"`
	SHA256  string            `json:"sha256"`
	Records map[string]uint64 `json:"records"`
}

// WriteLines writes a manifest as lines of JSON. docs/formats.md describes them.
func WriteLines(w io.Writer, l List) error {
	b := bufio.NewWriter(w)
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(listHead{Format: manifestForm, FirstSerial: l.FirstSerial}); err != nil {
		return fmt.Errorf("warc: manifest: %w", err)
	}
	for _, f := range l.Files {
		line := listLine{Name: f.Name, Bytes: f.Bytes, SHA256: hex.EncodeToString(f.SHA256[:]), Records: f.Records}
		if err := e.Encode(line); err != nil {
			return fmt.Errorf("warc: manifest: %w", err)
		}
	}
	return b.Flush() //nolint:wrapcheck // of the writer
}

// Read reads a manifest: our lines of JSON, or those of sha256sum and BagIt. An error wraps ErrManifest, or is one of
// the reader. Names lead to no other directory than those below.
func Read(r io.Reader) (List, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, lineMost)
	var l List
	number, isJSON := 0, false
	for lines.Scan() {
		text := strings.TrimRight(lines.Text(), "\r")
		if number++; number == 1 && strings.HasPrefix(text, "{") {
			var head listHead
			if err := json.Unmarshal([]byte(text), &head); err != nil || head.Format != manifestForm {
				return List{}, fmt.Errorf("%w: its first line does not say %s", ErrManifest, manifestForm)
			}
			l.FirstSerial, isJSON = head.FirstSerial, true
			continue
		}
		if text == "" && !isJSON {
			continue
		}
		parse := parseSum
		if isJSON {
			parse = parseLine
		}
		f, ok := parse(text)
		if !ok || !fs.ValidPath(f.Name) || f.Name == "." {
			return List{}, fmt.Errorf("%w: line %d names no file and digest", ErrManifest, number)
		}
		l.Files = append(l.Files, f)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return List{}, fmt.Errorf("%w: line %d is too long", ErrManifest, number+1)
	} else if err != nil {
		return List{}, fmt.Errorf("warc: manifest: %w", err)
	}
	if number == 0 {
		return List{}, fmt.Errorf("%w: it is empty", ErrManifest)
	}
	return l, nil
}

func parseLine(text string) (f File, ok bool) {
	var line listLine
	if err := json.Unmarshal([]byte(text), &line); err != nil || line.Bytes < 0 {
		return f, false
	}
	f = File{Name: line.Name, Bytes: line.Bytes, Records: line.Records}
	return f, parseDigest(&f.SHA256, line.SHA256)
}

func parseSum(text string) (f File, ok bool) {
	sum, name, found := strings.Cut(text, " ")
	if !found {
		return f, false
	}
	name = strings.TrimPrefix(strings.TrimLeft(name, " "), "*") // a star means that bytes are not converted
	f = File{Name: strings.TrimPrefix(name, "./"), Bytes: -1}
	return f, parseDigest(&f.SHA256, sum)
}

func parseDigest(dst *[32]byte, text string) bool {
	n, err := hex.Decode(dst[:], []byte(text[:min(len(text), 64)]))
	return err == nil && n == len(dst) && len(text) == 64
}
