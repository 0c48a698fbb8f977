package main

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strconv"
	"strings"

	"orbweaver/warc"
)

// warcSamples scores the published archives: a file passes if as many records are read as it has version lines, each of
// them whole and with digests that hold; a line of an index, if we found its record where it says.
func warcSamples(data fs.FS) (s score, err error) {
	names, err := fs.Glob(data, "warc/*.warc*")
	if err == nil && len(names) == 0 {
		err = fs.ErrNotExist
	}
	places := map[string]string{} // file and offset: URL
	for _, name := range names {
		if path.Ext(name) == ".cdx" {
			continue
		}
		text, err := fs.ReadFile(data, name)
		if err != nil {
			return s, err
		}
		want, err := countVersions(text)
		if err != nil {
			return s, fmt.Errorf("%s: %w", name, err)
		}
		s.judge(path.Base(name), readArchive(path.Base(name), text, places), fmt.Sprintf("%d records, no faults", want))
	}
	for _, name := range names {
		if path.Ext(name) != ".cdx" {
			continue
		}
		text, err := fs.ReadFile(data, name)
		if err != nil {
			return s, err
		}
		for line := range strings.Lines(string(text)) {
			if f := strings.Fields(line); len(f) == 11 && f[0] != "CDX" {
				s.judge(path.Base(name)+": "+f[2], places[f[10]+" "+f[9]], f[2])
			}
		}
	}
	return s, err
}

// countVersions counts the version lines of an archive's records, by a look at all of its text.
func countVersions(text []byte) (int, error) {
	if bytes.HasPrefix(text, []byte("\x1f\x8b")) {
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err != nil {
			return 0, err
		}
		if text, err = io.ReadAll(z); err != nil {
			return 0, err
		}
	}
	return len(regexp.MustCompile(`(?m)^WARC/\d\.\d\r\n`).FindAll(text, -1)), nil
}

// readArchive reads all of an archive and says how that went. It notes in places which URL's record stands where.
func readArchive(name string, text []byte, places map[string]string) string {
	var faults []string
	note := func(f *warc.Fault) { faults = append(faults, f.Error()) }
	z := warc.NewReader(bytes.NewReader(text), warc.ReaderOptions{Name: name, Block: warc.Warn, OnFault: note})
	defer z.Close()
	records := 0
	for {
		rec, err := z.Next()
		if err == io.EOF {
			break
		}
		if err == nil {
			places[name+" "+strconv.FormatInt(rec.Offset, 10)] = string(rec.TargetURI)
			if fault := readWhole(rec); fault != nil {
				faults = append(faults, fault.Error())
			}
			records++
			continue
		}
		faults = append(faults, err.Error())
		var fault *warc.Fault
		if !errors.As(err, &fault) {
			break // nothing more can be read
		}
	}
	if len(faults) == 0 {
		return fmt.Sprintf("%d records, no faults", records)
	}
	return fmt.Sprintf("%d records, %s", records, strings.Join(faults, "; "))
}

// readWhole reads a record's block to its end.
func readWhole(rec *warc.RecordRead) error {
	n, err := io.Copy(io.Discard, struct{ io.Reader }{rec})
	if err == nil && n != rec.ContentLength {
		err = fmt.Errorf("%d of %d bytes", n, rec.ContentLength)
	}
	return err
}
