package waczfs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"orbweaver/internal/vfs"
)

// Page is a page in the list of a WACZ.
type Page struct {
	URL, Title string
	Seed       bool
}

const (
	// pagesMost is how many pages of lists are read.
	pagesMost = 100_000
	// listsMost is how much of lists is read, unpacked, in bytes. They may have the text of each page.
	listsMost = 32 << 20
)

// Pages returns pages of the lists of a WACZ, or of those that a list of several names: pages/pages.jsonl and others
// beside it, such as extraPages.jsonl. What is beyond pagesMost or listsMost, or behind damage, is left out.
func Pages(fsys vfs.FS, name string) (pages []Page, err error) {
	l := newList()
	if err := l.read(fsys, name, ""); err != nil {
		return nil, fmt.Errorf("%s: no WACZ that can be read: %w", name, err)
	}
	left := int64(listsMost)
	for _, p := range l.packages {
		if pages, err = p.addPages(fsys, pages, &left); err != nil {
			return pages, err
		}
	}
	return pages, nil
}

// addPages adds the pages of one WACZ. left is how many bytes may be read.
func (c *container) addPages(fsys vfs.FS, pages []Page, left *int64) (_ []Page, err error) {
	file, err := fsys.Open(c.home)
	if err != nil {
		return pages, err //nolint:wrapcheck // the disk's own
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	z, err := OpenZIP(io.NewSectionReader(file, c.offset, c.size), c.size)
	if err != nil {
		return pages, err
	}
	for _, e := range z.File {
		if !strings.HasPrefix(e.Name, "pages/") || !strings.HasSuffix(e.Name, ".jsonl") {
			continue
		}
		from, err := e.Open()
		if err != nil {
			continue // of a kind of compression that is not known
		}
		limited := &io.LimitedReader{R: from, N: *left}
		for lines := json.NewDecoder(limited); len(pages) < pagesMost; {
			var said struct {
				URL, Title string
				Seed       bool
			}
			if lines.Decode(&said) != nil {
				break
			}
			if said.URL != "" { // the first line has none
				pages = append(pages, said)
			}
		}
		*left = limited.N
		if err := from.Close(); err != nil {
			return pages, err
		}
	}
	return pages, nil
}
