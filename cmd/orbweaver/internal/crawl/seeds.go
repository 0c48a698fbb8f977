package crawl

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"

	"orbweaver/cmd/orbweaver/internal/command"
	"orbweaver/engine/admission"
	"orbweaver/internal/urlx"
)

// seedFiles gives the seeds of the command line and of files. Standard input is read once, and only when asked for.
type seedFiles struct {
	urls  []string
	files []string
	stdin []byte // what - held
}

// seedSource checks the arguments and makes sure that every file can be read, before anything else is done.
func seedSource(inv *command.Invocation, urls, files []string) (admission.SeedSource, error) {
	var bad command.Faults
	s := &seedFiles{urls: urls, files: files}
	for _, u := range urls {
		if _, err := urlx.Normalize(nil, admission.CompleteSeed([]byte(u))); err != nil {
			bad.Add("", fmt.Errorf("seed %q: %s; write it as https://example.org/", u, urlx.Reason(err)))
		}
	}
	for _, name := range files {
		if name == "-" {
			b, err := io.ReadAll(inv.Stdin)
			bad.Add("--seeds -", err)
			s.stdin = b
			continue
		}
		f, err := os.Open(name)
		if err != nil {
			bad.Add("--seeds", err)
			continue
		}
		bad.Add("--seeds", f.Close())
	}
	if len(s.urls)+len(s.files) == 0 {
		return nil, bad.Err()
	}
	return s, bad.Err()
}

// SeedLines returns the URLs of arguments and of files of seeds.
func SeedLines(inv *command.Invocation, urls, files []string) (lines []string, err error) {
	s := &seedFiles{urls: urls, files: files}
	for _, name := range files {
		if name == "-" {
			if s.stdin, err = io.ReadAll(inv.Stdin); err != nil {
				return nil, err
			}
		}
	}
	err = s.Each(func(_ string, url []byte) error {
		lines = append(lines, string(url))
		return nil
	})
	return lines, err
}

// Each calls f for every seed.
func (s *seedFiles) Each(f func(where string, url []byte) error) error {
	for _, u := range s.urls {
		if err := f("argument", []byte(u)); err != nil {
			return err
		}
	}
	for _, name := range s.files {
		if err := s.file(name, f); err != nil {
			return err
		}
	}
	return nil
}

func (s *seedFiles) file(name string, f func(where string, url []byte) error) error {
	var in io.Reader = bytes.NewReader(s.stdin)
	if name != "-" {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(in)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		in = z
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if err := f(fmt.Sprintf("%s:%d", name, n), line); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
