package warc

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc/member"
)

// Files lists the archive files of a directory by serial, then by name. A missing directory has none.
func Files(fsys vfs.FS, dir string) ([]FileInfo, error) {
	names, err := fsys.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("warc: listing %s: %w", dir, err)
	}
	var files []FileInfo
	for _, name := range names {
		if f, ok := ParseName(name); ok {
			files = append(files, f)
		}
	}
	slices.SortStableFunc(files, func(a, b FileInfo) int { return int(int64(a.Serial) - int64(b.Serial)) })
	return files, nil
}

// FindFile looks up the file with a serial. The error wraps fs.ErrNotExist if there is none.
func FindFile(fsys vfs.FS, dir string, serial uint32) (FileInfo, error) {
	files, err := Files(fsys, dir)
	if err != nil {
		return FileInfo{}, err
	}
	for _, f := range files {
		if f.Serial == serial {
			return f, nil
		}
	}
	return FileInfo{}, fmt.Errorf("warc: %s: no file with serial %05d: %w", dir, serial, fs.ErrNotExist)
}

// join makes the path of a file in the directory.
func join(dir, name string) string { return path.Join(dir, name) }

// openSuffix marks a file that is still written.
const openSuffix = ".open"

// indexSuffix ends the names of indexes, in place of the suffix of the file they belong to.
const indexSuffix = ".cdxj"

// suffixOf returns the suffix of the names of files in this form.
func suffixOf(c member.Compression) string {
	switch c {
	case member.Zstd:
		return ".warc.zst"
	case member.None:
		return ".warc"
	}
	return ".warc.gz"
}

// FileInfo is one file of an archive directory.
type FileInfo struct {
	// Name within the directory.
	Name string
	// Serial is its number, counted from 0 through the whole crawl.
	Serial uint32
	// Open is true if the file is being written, or was when its Writer was killed.
	Open bool
	// Compression according to its name.
	Compression member.Compression
}

// Final returns the name of the file when it is complete.
func (f FileInfo) Final() string { return strings.TrimSuffix(f.Name, openSuffix) }

// Index returns the name of the CDXJ index of the file.
func (f FileInfo) Index() string {
	return strings.TrimSuffix(f.Final(), suffixOf(f.Compression)) + indexSuffix
}

// IndexName returns the name of the CDXJ index of any WARC file.
func IndexName(name string) string {
	stem, _, ok := CutName(name)
	if !ok {
		stem = strings.TrimSuffix(name, openSuffix)
	}
	return stem + indexSuffix
}

// CutName returns the name of any WARC or ARC file, ours or not, without its suffixes. isOpen says that the file is
// still written, or was when its Writer was killed. ok is false for the names of other files.
func CutName(name string) (stem string, isOpen, ok bool) {
	name, isOpen = strings.CutSuffix(name, openSuffix)
	for c := member.Gzip; c <= member.None; c++ {
		if stem, ok = strings.CutSuffix(name, suffixOf(c)); ok {
			return stem, isOpen, true
		}
	}
	for _, suffix := range []string{".arc.gz", ".arc"} {
		if stem, ok = strings.CutSuffix(name, suffix); ok && !isOpen {
			return stem, false, true
		}
	}
	return "", isOpen, false
}

// formatName returns the name of a file when it is complete: PREFIX-TIMESTAMP17-SERIAL5-HOST.warc.gz.
func formatName(o *Options, serial uint32, now time.Time) string {
	stamp := strings.Replace(now.UTC().Format("20060102150405.000"), ".", "", 1)
	return fmt.Sprintf("%s-%s-%05d-%s%s", o.Prefix, stamp, serial, o.Host, suffixOf(o.Compression))
}

// ParseName parses a name of the form PREFIX-TIMESTAMP17-SERIAL5-HOST.warc.gz, with or without .open.
func ParseName(name string) (FileInfo, bool) {
	f := FileInfo{Name: name}
	rest, open := strings.CutSuffix(name, openSuffix)
	f.Open = open
	ok := false
	for c := member.Gzip; c <= member.None && !ok; c++ {
		if rest, ok = strings.CutSuffix(rest, suffixOf(c)); ok {
			f.Compression = c
		}
	}
	if !ok {
		return FileInfo{}, false
	}
	parts := strings.Split(rest, "-")
	for i := 1; i+2 < len(parts); i++ {
		if len(parts[i]) != 17 || !isDigits(parts[i]) || len(parts[i+1]) < 5 || !isDigits(parts[i+1]) {
			continue
		}
		n, err := strconv.ParseUint(parts[i+1], 10, 32)
		if err != nil {
			return FileInfo{}, false
		}
		f.Serial = uint32(n)
		return f, true
	}
	return FileInfo{}, false
}

// Created returns the time in the name of the file, zero if there is none.
func (f FileInfo) Created() time.Time {
	for part := range strings.SplitSeq(f.Name, "-") {
		if len(part) != 17 || !isDigits(part) {
			continue
		}
		if t, err := time.Parse("20060102150405.000", part[:14]+"."+part[14:]); err == nil {
			return t
		}
		break
	}
	return time.Time{}
}

func isDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// isPart reports whether s may be a part of a file name on every system and does not lead out of the directory.
func isPart(s, more string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune(more, rune(c))) {
			return false
		}
	}
	return s != "" && len(s) <= 100
}
