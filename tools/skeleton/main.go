// Command skeleton prints what a completeness test needs of a real site: the paths of its pages, their links, images
// and words, in the order of the page, without the words themselves. Each word is replaced by its rank among the words
// of the site, in letters, so that pages resemble each other as the real ones do: the same words in the same places,
// the same repetition. Numbers stay as they are.
//
//	go run ./tools/skeleton -dir /usr/share/doc/rust-doc/html \
//		-paths '^core/arch/x86(_64)?/|^book/(ch0[1-4]|index|title|fore)' \
//		-entry core/arch/x86/index.html | zstd --ultra -22 --long=27 -o bench/completeness/testdata/rustdoc.zst
//	go run ./tools/skeleton -dir /usr/share/doc/libstdc++-12-doc/libstdc++/user -most 14000 \
//		-always '^(annotated|files|namespaces|modules|inherits|hierarchy)' | zstd --ultra -22 --long=27 \
//		-o bench/completeness/testdata/doxygen.zst
//
// A page is a line with its path, its HTML in one line, and nothing else. Links that lead out of the chosen paths are
// left out. The first page is the entry: it links to each folder's index.html among the pages, and to -entry if that is
// set.
package main

import (
	"bufio"
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// skeleton is a site that is being read.
type skeleton struct {
	dir   string
	pages map[string]bool // paths
	count map[string]int  // of each word
	rank  map[string]string
}

func main() {
	dir := flag.String("dir", "", "directory of the site")
	paths := flag.String("paths", ".", "regular expression for the paths of the pages")
	entry := flag.String("entry", "index.html", "path of a page that the entry links to")
	most := flag.Int64("most", 1<<24, "bytes of the largest page that is taken")
	always := flag.String("always", "^index.html$",
		"regular expression for the paths of pages that are taken whatever their size")
	flag.Parse()
	if err := print(*dir, *paths, *always, *entry, *most); err != nil {
		fmt.Fprintln(os.Stderr, "skeleton:", err)
		os.Exit(1)
	}
}

func print(dir, paths, always, entry string, most int64) error {
	wanted, err := regexp.Compile(paths)
	if err != nil {
		return err
	}
	anySize, err := regexp.Compile(always)
	if err != nil {
		return err
	}
	s := &skeleton{dir: dir, pages: map[string]bool{}, count: map[string]int{}, rank: map[string]string{}}
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		info, err := e.Info()
		name := strings.TrimPrefix(path, filepath.Clean(dir)+"/")
		if err == nil && wanted.MatchString(name) && (info.Size() <= most || anySize.MatchString(name)) {
			s.pages[name] = true
		}
		return err
	})
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(s.pages))
	for _, name := range names { // the first reading counts words
		if _, err := s.read(name); err != nil {
			return err
		}
	}
	words := slices.SortedFunc(maps.Keys(s.count),
		func(a, b string) int { return cmp.Or(s.count[b]-s.count[a], strings.Compare(a, b)) })
	for i, word := range words {
		s.rank[word] = alphabetic(i)
	}
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintf(out, "\n<a href=%s>", entry)
	for _, name := range names {
		if filepath.Base(name) == "index.html" {
			fmt.Fprintf(out, "<a href=%s>", name)
		}
	}
	fmt.Fprintln(out)
	for _, name := range names {
		line, err := s.read(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s\n%s\n", name, line)
	}
	return out.Flush()
}

// read reads a page and writes what is kept of it.
func (s *skeleton) read(name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		return nil, err
	}
	base, err := url.Parse("http://site/" + name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	tokens, silent := html.NewTokenizer(bytes.NewReader(text)), false
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return out.Bytes(), nil
		case html.TextToken:
			if !silent {
				s.words(&out, tokens.Token().Data)
			}
		case html.EndTagToken:
			silent = false
		case html.StartTagToken, html.SelfClosingTagToken:
			t := tokens.Token()
			silent = t.Data == "script" || t.Data == "style"
			s.tag(&out, base, t)
		}
	}
}

// alphabetic is a number in letters.
func alphabetic(n int) string {
	name := []byte{byte('a' + n%26)}
	for n /= 26; n > 0; n /= 26 {
		name = append(name, byte('a'+n%26))
	}
	return string(name)
}

// Letters are a word. Numbers are kept, and underscores, since they join words; all else parts them.
var word = regexp.MustCompile(`\pL+|\pN+|_|[^\pL\pN_]+`)

func (s *skeleton) words(out *bytes.Buffer, text string) {
	for _, w := range word.FindAllString(text, -1) {
		switch first, _ := utf8.DecodeRuneInString(w); {
		case first == '_', unicode.IsNumber(first):
			out.WriteString(w)
		case !unicode.IsLetter(first):
			if b := out.Bytes(); len(b) > 0 && b[len(b)-1] != ' ' {
				out.WriteByte(' ')
			}
		default:
			s.count[w]++
			out.WriteString(s.rank[w])
		}
	}
}

// tag writes a link to a page that is kept, or the address of an image or another embedded file.
func (s *skeleton) tag(out *bytes.Buffer, base *url.URL, t html.Token) {
	for _, a := range t.Attr {
		to, err := base.Parse(a.Val)
		if err != nil || to.Host != "site" {
			continue
		}
		to.Fragment, to.RawQuery = "", ""
		ref, _, _ := strings.Cut(a.Val, "#")
		switch {
		case t.Data == "a" && a.Key == "href" && ref != "" && s.pages[strings.TrimPrefix(to.Path, "/")]:
			fmt.Fprintf(out, "<a href=%s>", ref)
		case a.Key == "src" && (t.Data == "img" || t.Data == "iframe" || t.Data == "embed"):
			fmt.Fprintf(out, "<%s src=%s>", t.Data, ref)
			if t.Data == "iframe" { // what follows would be its text
				out.WriteString("</iframe>")
			}
		case a.Key == "data" && t.Data == "object":
			fmt.Fprintf(out, "<object data=%s>", ref)
		}
	}
}
