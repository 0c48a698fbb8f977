package admission

import (
	"bytes"
	"io"
	"math"
	"strings"
	"unicode"

	"orbweaver/internal/textfile"
)

// SeedLineMax is the longest line of a list of seeds, in bytes.
const SeedLineMax = 128 << 10

// SeedList reads a file of seeds: a URL on each line, # comments, or a table with commas or semicolons. A line of a
// table has tabs in their place: see SeedURL.
type SeedList struct {
	lines  *textfile.Lines
	begin  []seedLine // read to find out whether this is a table
	now    seedLine
	column string // what stands between two columns; "" if this is no table
	isRead bool   // begin was read
}

// seedLine is a line of a list.
type seedLine struct {
	text   []byte
	number int
	isCut  bool
}

// seedLinesSeen is how many lines of a list are looked at to see whether it is a table.
const seedLinesSeen = 64

// ReadSeeds returns the lines of a list.
func ReadSeeds(in io.Reader) *SeedList { return &SeedList{lines: textfile.Read(in, SeedLineMax)} }

// Scan goes on to the next line that is neither empty nor a comment.
func (s *SeedList) Scan() bool {
	if !s.isRead {
		s.isRead = true
		for len(s.begin) < seedLinesSeen && s.next() {
			s.now.text = bytes.Clone(s.now.text)
			s.begin = append(s.begin, s.now)
		}
		s.column = columnsOf(s.begin)
	}
	if len(s.begin) > 0 {
		s.now, s.begin = s.begin[0], s.begin[1:]
	} else if !s.next() {
		return false
	}
	if s.column != "" && s.now.text[0] != '"' {
		s.now.text = bytes.ReplaceAll(s.now.text, []byte(s.column), []byte{'\t'})
	}
	return true
}

func (s *SeedList) next() bool {
	for s.lines.Scan() {
		if text := s.lines.Text(); len(text) > 0 && text[0] != '#' {
			s.now = seedLine{text, s.lines.Number(), s.lines.IsCut()}
			return true
		}
	}
	return false
}

// Text returns the line. It is good until the next Scan.
func (s *SeedList) Text() []byte { return s.now.text }

// Number returns the number of the line in its file, from 1.
func (s *SeedList) Number() int { return s.now.number }

// IsCut reports whether the line is longer than SeedLineMax; Text returns its begin.
func (s *SeedList) IsCut() bool { return s.now.isCut }

// Err returns why the lines ended; nil at the end of the list.
func (s *SeedList) Err() error { return s.lines.Err() }

// columnsOf returns what stands between two columns of a table; "" if the lines are no table. URLs may have commas and
// semicolons. So a table has names of columns in its first line, or quotes around a cell, or titles in all lines.
func columnsOf(lines []seedLine) string {
	for _, column := range []string{",", ";"} {
		titles := 0
		for i, l := range lines {
			url, title, found := strings.Cut(string(l.text), column)
			isHead := i == 0 && len(lines) > 1 && !strings.ContainsAny(string(l.text), "./:")
			switch {
			case found && (isHead || strings.HasPrefix(url, `"`)):
				return column
			case !found || !isTitle(title) && !isTitle(url):
				titles = math.MinInt
			case strings.Contains(title, " "):
				titles += titlesLeast // a URL has no blanks, so one of these is enough
			default:
				titles++
			}
		}
		if titles >= titlesLeast {
			return column
		}
	}
	return ""
}

// titlesLeast is how many lines with a word that looks like a title make a table.
const titlesLeast = 2

// isTitle reports whether a text is made of words, and has nothing that URLs have.
func isTitle(text string) bool {
	return strings.ContainsFunc(text, unicode.IsLetter) && !strings.ContainsAny(text, "/?=&%_#:@") &&
		!strings.ContainsFunc(text, unicode.IsControl) && !hasInnerDot(text)
}

// hasInnerDot reports whether a dot is between two characters that are no blanks, as in the name of a file or host.
func hasInnerDot(text string) bool {
	for word := range strings.FieldsSeq(text) {
		if strings.Contains(strings.Trim(word, "."), ".") {
			return true
		}
	}
	return false
}
