package main

import (
	"compress/gzip"
	"crypto/sha1" //nolint:gosec // digests of payloads
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// habit is a case of a row of the second table of docs/warc.md: files as a program writes them, and how they are read.
type habit struct {
	row   string            // how the second column begins, without its backquotes
	files map[string]string // by name
	tries []try
	test  string // in place of files and tries: a test elsewhere, as "file Name"
}

// try is a command and what it must say. "text NAME" is derive --wet, with the text of its records as output.
type try struct {
	words string
	says  []string // in stdout; one that begins with ! must not be there
	warns string   // on stderr
	code  int
	count int // how often stdout has the first of says; 0 for any number
}

// page tries the four ways to read a page: get, ls, index and the text of derive.
func page(name, url, key, words string) []try {
	return []try{
		{words: "warc get " + name + " " + url, says: []string{words}},
		{words: "warc ls " + name, says: []string{url}},
		{words: "warc index " + name, says: []string{key + " "}},
		{words: "text " + name, says: []string{words}},
	}
}

// foreignRecord returns a record as other programs write it. fields replace those of the same names.
func foreignRecord(kind, uri, block string, fields ...string) string {
	foreignID := fmt.Sprintf("<urn:uuid:%x>", sha1.Sum([]byte(kind+uri+block+strings.Join(fields, ""))))
	head := []string{
		"WARC-Type: " + kind, "WARC-Record-ID: " + foreignID, "WARC-Date: 2020-01-02T03:04:05Z",
		"WARC-Target-URI: " + uri, "Content-Type: application/http; msgtype=response",
		fmt.Sprintf("Content-Length: %d", len(block)),
	}
	for _, f := range fields {
		name, _, _ := strings.Cut(f, ":")
		i := slices.IndexFunc(head, func(have string) bool { return strings.HasPrefix(have, name+":") })
		if i < 0 {
			head = append(head, f)
		} else {
			head[i] = f
		}
	}
	return "WARC/1.0\r\n" + strings.Join(head, "\r\n") + "\r\n\r\n" + block + "\r\n\r\n"
}

// foreignPage is an HTML page with words, and further fields in its HTTP head.
func foreignPage(words string, fields ...string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n" + strings.Join(append(fields, ""), "\r\n") +
		"\r\n<html><title>t</title><body><p>" + words + "</body></html>"
}

// one is a file of one page at http://a.test/p.
func one(block string, fields ...string) map[string]string {
	return map[string]string{"a.warc.gz": gzipMembers(foreignRecord("response", "http://a.test/p", block, fields...))}
}

// onePage tries to read it.
func onePage(words string) []try { return page("a.warc.gz", "http://a.test/p", "test,a)/p", words) }

// foreignWACZ packs files with a list of them. A digest of the file whose name is in wrong is not that of its bytes.
func foreignWACZ(files map[string]string, wrong string) string {
	type resource struct {
		Name  string `json:"name"`
		Path  string `json:"path"`
		Hash  string `json:"hash"`
		Bytes int    `json:"bytes"`
	}
	var listed []resource
	var all []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text := files[name]
		if name == wrong {
			text += text
		}
		sum := sha256.Sum256([]byte(text))
		listed = append(listed, resource{path.Base(name), name, "sha256:" + hex.EncodeToString(sum[:]),
			len(files[name])})
		all = append(all, name, files[name])
	}
	manifest, _ := json.Marshal(map[string]any{ // it has no value that fails
		"profile": "data-package", "wacz_version": "1.1.1", "created": "2026-01-02T03:04:05Z", "resources": listed,
	})
	sum := sha256.Sum256(manifest)
	digest := `{"path":"datapackage.json","hash":"sha256:` + hex.EncodeToString(sum[:]) + `"}`
	return zipOf(append(all, "datapackage.json", string(manifest), "datapackage-digest.json", digest)...)
}

// habitRows returns the first column of the table of docs/warc.md that lists what other programs write.
func habitRows(t *testing.T) (rows []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/warc.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| habit | read as |\n")
	for line := range strings.Lines(table) {
		habit, _, isRow := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !isRow {
			if strings.HasPrefix(line, "|---") {
				continue
			}
			break
		}
		rows = append(rows, strings.ReplaceAll(habit, "`", ""))
	}
	return rows
}

// Each row of the table has a case. Habits that change nothing for a reader have a case and no row.
func TestHabits_eachRowHasACase(t *testing.T) {
	held := map[string]bool{}
	for _, h := range habits() {
		found := 0
		for _, row := range habitRows(t) {
			if strings.HasPrefix(row, h.row) {
				found++
				held[row] = true
			}
		}
		if found > 1 {
			t.Errorf("%d rows of docs/warc.md begin with %q", found, h.row)
		}
		if h.test == "" {
			continue
		}
		file, name, _ := strings.Cut(h.test, " ")
		if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "func "+name+"(") {
			t.Errorf("there is no test %s: %v", h.test, err)
		}
	}
	for _, row := range habitRows(t) {
		if !held[row] {
			t.Errorf("no case holds the row %q of docs/warc.md", row)
		}
	}
}

// What other programs write is read as docs/warc.md says.
func TestHabits_areReadAsStated(t *testing.T) {
	for _, h := range habits() {
		dir := t.TempDir()
		for name, text := range h.files {
			writeFile(t, filepath.Join(dir, name), text)
		}
		for _, x := range h.tries {
			r := x.call(t, dir)
			isRight := r.code == x.code && strings.Contains(r.err, x.warns) &&
				(x.count == 0 || x.count == strings.Count(r.out, x.says[0]))
			for _, says := range x.says {
				not, isNot := strings.CutPrefix(says, "!")
				isRight = isRight && strings.Contains(r.out, not) != isNot
			}
			if !isRight {
				t.Errorf("%s: %s: exit status %d, want %d, %q; stdout:\n%.2000s\nstderr:\n%s", h.row, x.words, r.code,
					x.code,
					append(x.says, x.warns), r.out, r.err)
			}
		}
	}
}

// call runs the command on the files of a directory.
func (x *try) call(t *testing.T, dir string) result {
	t.Helper()
	words := strings.Fields(x.words)
	for i, word := range words {
		if _, err := os.Stat(filepath.Join(dir, word)); err == nil && i > 0 {
			words[i] = filepath.Join(dir, word)
		}
	}
	if words[0] != "text" {
		return call(words...)
	}
	out := t.TempDir()
	r := call("derive", "--wet", "--quiet", "--crawl", "C", "--out", out, words[1])
	r.out = ""
	err := filepath.WalkDir(out, func(name string, _ os.DirEntry, err error) error {
		if !strings.HasSuffix(name, ".gz") || err != nil {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			return err
		}
		text, err := io.ReadAll(z)
		r.out += string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
