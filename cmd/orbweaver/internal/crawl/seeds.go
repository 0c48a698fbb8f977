package crawl

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"

	"orbweaver/engine/frontier/admission"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/urlx"
)

// seedFiles gives the seeds of the command line and of files. Standard input and pipes are read once, before the crawl
// begins: nothing of a crawl waits for their writers.
type seedFiles struct {
	urls  []string
	files []string
	piped map[string][]byte // what - and each pipe held
}

// pipedMost is the longest text that is read from a pipe, in bytes: it is kept in memory.
const pipedMost = 1 << 30

// readPipes reads standard input and the pipes among the files, and makes sure that every other file can be read.
func (s *seedFiles) readPipes(stdin io.Reader) error {
	var bad command.Faults
	s.piped = map[string][]byte{}
	for _, name := range s.files {
		if _, ok := s.piped[name]; ok {
			continue
		}
		in := stdin
		if name != "-" {
			f, err := os.Open(name)
			if err != nil {
				bad.Add("--seeds", err)
				continue
			}
			defer f.Close()
			info, err := f.Stat()
			if err == nil && info.Mode().IsRegular() {
				continue
			}
			if err != nil {
				bad.Add("--seeds", err)
				continue
			}
			in = f
		}
		b, err := io.ReadAll(io.LimitReader(in, pipedMost+1))
		if err == nil && len(b) > pipedMost {
			err = fmt.Errorf("more than %d MiB: write them to a file, and give its name", pipedMost>>20)
		}
		if err != nil {
			bad.Add("--seeds "+name, err)
		}
		s.piped[name] = b
	}
	return bad.Err()
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
	bad.Add("", s.readPipes(inv.Stdin))
	if len(s.urls)+len(s.files) == 0 {
		return nil, bad.Err()
	}
	return s, bad.Err()
}

// SeedLines returns the URLs of arguments and of files of seeds.
func SeedLines(inv *command.Invocation, urls, files []string) (lines []string, err error) {
	s := &seedFiles{urls: urls, files: files}
	if err := s.readPipes(inv.Stdin); err != nil {
		return nil, err
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
	piped, isPiped := s.piped[name]
	var in io.Reader = bytes.NewReader(piped)
	if !isPiped {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		in = file
	}
	buffered := bufio.NewReader(in)
	in = buffered
	if magic, err := buffered.Peek(2); err == nil && string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(buffered)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		in = z
	}
	lines := admission.ReadSeeds(in)
	for lines.Scan() {
		if err := f(fmt.Sprintf("%s:%d", name, lines.Number()), lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
