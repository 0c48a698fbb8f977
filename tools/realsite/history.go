package main

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"time"
)

// The measures of the history that cgit serves. They are those of a program of some years: HEAD has 177 commits and
// 1,820 files and directories.
const (
	historyCommits  = 150 // on the main branch, without merges
	historyMerges   = 10  // each of a branch of two commits
	historyBranches = 6   // with two commits that are not merged
	historyTags     = 12
	firstFiles      = 485 // in the first commit
	filesAdded      = 8   // on average, in each later commit
	filesChanged    = 7   // on average, in each later commit
	fileLines       = 90  // on average
	historySeed     = 17
)

// history writes a stream for git fast-import. The same stream comes of it each time, so the repository has the same
// commits, with the same names.
type history struct {
	out   *bufio.Writer
	rng   *rand.Rand
	words []string // frequent ones first
	names map[string]bool
	files []*sourceFile // all that were ever added
	dirs  []string
	marks int // of the commits so far
	at    time.Time
}

// sourceFile is a file at the newest commit.
type sourceFile struct {
	path  string
	own   []string // names that no other file has
	lines []string
}

// writeHistory writes the whole stream.
func writeHistory(w io.Writer) error {
	h := &history{
		out: bufio.NewWriter(w), rng: rand.New(rand.NewPCG(historySeed, historySeed)), names: map[string]bool{},
		dirs: []string{""}, at: time.Date(2019, 3, 4, 9, 0, 0, 0, time.UTC),
	}
	for range 2500 {
		h.words = append(h.words, h.name())
	}
	last := h.commit("heads/main", 0, 0, h.adds(firstFiles))
	for i := 1; i < historyCommits; i++ {
		last = h.commit("heads/main", last, 0, append(h.adds(h.around(filesAdded)), h.changes()...))
		if i%(historyCommits/historyTags) == 0 {
			h.tag(fmt.Sprintf("v0.%d", i/(historyCommits/historyTags)), last)
		}
		if i%(historyCommits/historyMerges) == 0 {
			side, changed := h.branch(fmt.Sprintf("heads/topic-%d", i), last)
			last = h.commit("heads/main", last, side, append(changed, h.changes()...))
		}
	}
	for i := range historyBranches {
		h.branch(fmt.Sprintf("heads/idea-%d", i+1), last-i*3)
	}
	return h.out.Flush()
}

// branch makes two commits. It returns the newer one, and what both changed.
func (h *history) branch(ref string, from int) (last int, of []*sourceFile) {
	for range 2 {
		changed := h.changes()
		from, of = h.commit(ref, from, 0, changed), append(of, changed...)
	}
	return from, of
}

// commit writes a commit and returns its mark. From and merged are the marks of its parents, 0 for none.
func (h *history) commit(ref string, from, merged int, of []*sourceFile) int {
	h.marks++
	h.at = h.at.Add(time.Duration(1+h.rng.IntN(60*72)) * time.Minute)
	authors := [...]string{"Ada Berg", "Bo Chen", "Carla Diaz", "Dmitri Egorov", "Eve Fischer"}
	author := authors[h.rng.IntN(len(authors))]
	who := fmt.Sprintf("%s <%s@example.org> %d +0000", author, strings.ToLower(author[:strings.Index(author, " ")]),
		h.at.Unix())
	h.write("commit refs/%s\nmark :%d\nauthor %s\ncommitter %s\n", ref, h.marks, who, who)
	subject := h.sentence(5)
	if merged > 0 {
		subject = fmt.Sprintf("Merge branch %d: %s", merged, subject)
	}
	h.data(subject + "\n\n" + h.sentence(20) + "\n" + h.sentence(15) + "\n")
	if from > 0 {
		h.write("from :%d\n", from)
	}
	if merged > 0 {
		h.write("merge :%d\n", merged)
	}
	for _, f := range of {
		h.write("M 100644 inline %s\n", f.path)
		h.data(strings.Join(f.lines, "\n") + "\n")
	}
	return h.marks
}

func (h *history) tag(name string, of int) {
	h.write("tag %s\nfrom :%d\ntagger Ada Berg <ada@example.org> %d +0000\n", name, of, h.at.Unix())
	h.data("Version " + name + ": " + h.sentence(8) + "\n")
}

// write writes a command. An error of the writer comes back from Flush.
func (h *history) write(format string, args ...any) { _, _ = fmt.Fprintf(h.out, format, args...) }

func (h *history) data(text string) { h.write("data %d\n%s\n", len(text), text) }

// adds makes new files, some of them in new directories.
func (h *history) adds(n int) (of []*sourceFile) {
	for range n {
		if h.rng.IntN(8) == 0 {
			parent := h.dirs[h.rng.IntN(len(h.dirs))]
			if strings.Count(parent, "/") < 4 { // at most five levels
				h.dirs = append(h.dirs, path.Join(parent, h.name()))
			}
		}
		f := &sourceFile{path: path.Join(h.dirs[h.rng.IntN(len(h.dirs))], h.name()+h.extension())}
		for range 6 {
			f.own = append(f.own, h.name())
		}
		for range 10 + h.rng.IntN(2*fileLines-20) {
			f.lines = append(f.lines, h.line(f))
		}
		h.files, of = append(h.files, f), append(of, f)
	}
	return of
}

func (h *history) extension() string {
	all := [...]string{".c", ".c", ".c", ".h", ".h", ".py", ".md", ".txt", ".sh", ".json"}
	return all[h.rng.IntN(len(all))]
}

// changes changes some files: in each it puts a few lines in the place of others.
func (h *history) changes() (of []*sourceFile) {
	for range h.around(filesChanged) {
		f := h.files[h.rng.IntN(len(h.files))]
		if slices.Contains(of, f) {
			continue
		}
		at := h.rng.IntN(len(f.lines))
		cut := min(len(f.lines)-at, h.rng.IntN(4))
		var fresh []string
		for range 1 + h.rng.IntN(6) {
			fresh = append(fresh, h.line(f))
		}
		f.lines = slices.Replace(f.lines, at, at+cut, fresh...)
		of = append(of, f)
	}
	return of
}

// around is a number from 1 to twice the mean.
func (h *history) around(mean int) int { return 1 + h.rng.IntN(2*mean-1) }

// line is a line of a program: a comment, or a statement with a name of the file.
func (h *history) line(f *sourceFile) string {
	indent := strings.Repeat("    ", h.rng.IntN(3))
	own := f.own[h.rng.IntN(len(f.own))]
	switch h.rng.IntN(6) {
	case 0:
		return ""
	case 1, 2:
		return indent + "# " + h.sentence(8)
	case 3:
		return fmt.Sprintf("%sif (%s_%s > %d) return %s;", indent, own, h.word(), h.rng.IntN(1000), h.word())
	default:
		return fmt.Sprintf("%s%s = %s(%s, %s_%s);", indent, own, h.word(), h.word(), own, h.word())
	}
}

// sentence is a sentence of about so many words.
func (h *history) sentence(words int) string {
	var s []string
	for range h.around(words) + 2 {
		s = append(s, h.word())
	}
	return strings.Join(s, " ")
}

// word is a word that many files have, a frequent one more often.
func (h *history) word() string {
	x := h.rng.Float64()
	return h.words[int(x*x*x*float64(len(h.words)))]
}

// name invents a word that was not there before.
func (h *history) name() string {
	starts := strings.Fields("b c d f g h k l m n p r s t v w st tr pl gr")
	middles := strings.Fields("a e i o u ea ou ai")
	ends := strings.Fields("n r s t l d m nd st rt ng ck")
	part := func(of []string) string { return of[h.rng.IntN(len(of))] }
	for {
		word := part(starts) + part(middles)
		for range 1 + h.rng.IntN(2) {
			word += part(starts) + part(middles)
		}
		if word += part(ends); !h.names[word] {
			h.names[word] = true
			return word
		}
	}
}
