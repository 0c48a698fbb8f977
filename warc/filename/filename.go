package filename

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"orbweaver/warc/member"
)

// OpenSuffix marks a file that is still written.
const OpenSuffix = ".open"

// IndexSuffix ends the names of indexes, in place of the suffix of the file they belong to.
const IndexSuffix = ".cdxj"

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

// Info is one file of an archive directory.
type Info struct {
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
func (f Info) Final() string { return strings.TrimSuffix(f.Name, OpenSuffix) }

// Index returns the name of the CDXJ index of the file.
func (f Info) Index() string {
	return strings.TrimSuffix(f.Final(), suffixOf(f.Compression)) + IndexSuffix
}

// Index returns the name of the CDXJ index of any WARC file.
func Index(name string) string {
	stem, _, ok := Cut(name)
	if !ok {
		stem = strings.TrimSuffix(name, OpenSuffix)
	}
	return stem + IndexSuffix
}

// Cut returns the name of any WARC or ARC file, ours or not, without its suffixes. isOpen says that the file is still
// written, or was when its Writer was killed. ok is false for the names of other files.
func Cut(name string) (stem string, isOpen, ok bool) {
	name, isOpen = strings.CutSuffix(name, OpenSuffix)
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

// Format returns PREFIX-TIMESTAMP17-SERIAL5-HOST.warc.gz.
func Format(prefix, host string, c member.Compression, serial uint32, now time.Time) string {
	stamp := strings.Replace(now.UTC().Format("20060102150405.000"), ".", "", 1)
	return fmt.Sprintf("%s-%s-%05d-%s%s", prefix, stamp, serial, host, suffixOf(c))
}

// Parse parses a name of the form PREFIX-TIMESTAMP17-SERIAL5-HOST.warc.gz, with or without .open.
func Parse(name string) (Info, bool) {
	f := Info{Name: name}
	rest, open := strings.CutSuffix(name, OpenSuffix)
	f.Open = open
	ok := false
	for c := member.Gzip; c <= member.None && !ok; c++ {
		if rest, ok = strings.CutSuffix(rest, suffixOf(c)); ok {
			f.Compression = c
		}
	}
	if !ok {
		return Info{}, false
	}
	parts := strings.Split(rest, "-")
	for i := 1; i+2 < len(parts); i++ {
		if len(parts[i]) != 17 || !isDigits(parts[i]) || len(parts[i+1]) < 5 || !isDigits(parts[i+1]) {
			continue
		}
		n, err := strconv.ParseUint(parts[i+1], 10, 32)
		if err != nil {
			return Info{}, false
		}
		f.Serial = uint32(n)
		return f, true
	}
	return Info{}, false
}

// Created returns the time in the name of the file, zero if there is none.
func (f Info) Created() time.Time {
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

// IsPart reports whether s may be a part of a file name on every system and does not lead out of the directory.
func IsPart(s, more string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !alnum && (i == 0 || !strings.ContainsRune(more, rune(c))) {
			return false
		}
	}
	return s != "" && len(s) <= 100
}
