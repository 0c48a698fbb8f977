package warc

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"orbweaver/internal/plural"
	"orbweaver/internal/textfile"
	"orbweaver/internal/vfs"
)

// Stdin is the name of standard input, as a command and as a disk have it.
const (
	Stdin     = "-"
	stdinFile = "/dev/stdin"
)

// ErrStdinInput is for commands that do not read standard input.
var ErrStdinInput = errors.New("standard input can be read only once, and this command needs a file: " +
	"'orbweaver warc recompress - -o FILE' makes one")

// FindInputs returns the files that some names stand for. A directory stands for the WARC files in it, or in its
// directory warc or archive. unread are the archives in these directories that are not among them.
func FindInputs(fsys vfs.FS, names ...string) (files, unread []string, err error) {
	for _, name := range names {
		if name == Stdin {
			files = append(files, stdinFile)
			continue
		}
		inside, err := fsys.List(name)
		if err != nil { // it is a file, or opening it says what is wrong
			files = append(files, name)
			continue
		}
		for _, below := range []string{"warc", "archive"} {
			if slices.Contains(inside, below) && !slices.ContainsFunc(inside, isWARC) {
				name = path.Join(name, below)
				if inside, err = fsys.List(name); err != nil {
					return nil, nil, fmt.Errorf("warc: %w", err)
				}
				break
			}
		}
		for _, base := range inside {
			if isWARC(base) {
				files = append(files, path.Join(name, base))
			}
		}
		for _, base := range UnreadInputs(inside) {
			unread = append(unread, path.Join(name, base))
		}
	}
	return files, unread, nil
}

func isWARC(name string) bool {
	_, _, ok := CutName(name)
	return ok
}

// besides are the ends of the names of files that are no archives, but are about one.
const besides = " .cdx .cdxj .idx .loc .open .gzi .md5 .sha1 .sha256 .sha512 .sig .json .jsonl .txt .log .csv .xml" +
	" .html .cdx.gz .cdxj.gz .parquet "

// UnreadInputs returns which names of a directory are those of archives that are not read, such as x.warc.lz4.
func UnreadInputs(names []string) (unread []string) {
	for _, name := range names {
		lower := strings.ToLower(name)
		isArchive := slices.ContainsFunc([]string{".warc", ".arc", ".wacz"}, func(kind string) bool {
			return strings.HasSuffix(lower, kind) || strings.Contains(lower, kind+".")
		})
		isBeside := slices.ContainsFunc(strings.Fields(besides), func(end string) bool {
			return strings.HasSuffix(lower, end)
		})
		if isArchive && !isBeside && !isWARC(name) {
			unread = append(unread, name)
		}
	}
	return unread
}

// saidMost is how many files are named.
const saidMost = 5

// UnreadSentence says which files are not read; "" if all are.
func UnreadSentence(unread []string) string {
	if len(unread) == 0 {
		return ""
	}
	text := fmt.Sprintf("%s not read, as no form is known by such a name: %s", plural.Count(len(unread), "file"),
		textfile.Plain(strings.Join(unread[:min(saidMost, len(unread))], ", ")))
	if len(unread) > saidMost {
		text += " and others"
	}
	return text + ". Unpack or rename them, or name them one by one"
}
