package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"orbweaver/engine/page/parse"
)

// charsetOf is the character set that a page without a header is read in.
func charsetOf(scanner *parse.Scanner, page []byte) string {
	res, err := scanner.Scan(page, []byte("text/html"))
	if err != nil {
		return err.Error()
	}
	return res.Charset
}

// snifferPages scores pages whose names end in the character set that they must be read in.
func snifferPages(data fs.FS) (s score, err error) {
	names, err := fs.Glob(data, "charset/sniffer/*/*.html")
	if err == nil && len(names) == 0 {
		err = fs.ErrNotExist
	}
	scanner := parse.NewScanner(parse.Options{})
	for _, name := range names {
		page, err := fs.ReadFile(data, name)
		if err != nil {
			return s, err
		}
		base := strings.TrimSuffix(path.Base(name), ".html")
		want := base[strings.LastIndexByte(base, '_')+1:]
		if path.Base(path.Dir(name)) == "utf" {
			want = "utf-8" // what says UTF-16 in ASCII is neither
		}
		s.judge(strings.TrimPrefix(name, "charset/sniffer/"), charsetOf(scanner, page), strings.ToLower(want))
	}
	return s, err
}

// encodingTests scores files of "#data" and "#encoding", and the page whose character set must be guessed.
func encodingTests(data fs.FS) (s score, err error) {
	const folder = "html/html5lib/encoding/"
	scanner := parse.NewScanner(parse.Options{})
	err = fs.WalkDir(data, strings.TrimSuffix(folder, "/"), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(data, name)
		if err != nil {
			return err
		}
		short := strings.TrimPrefix(name, folder)
		if !strings.HasSuffix(name, ".dat") { // chardet/test_NAME.txt
			want := strings.TrimSuffix(strings.TrimPrefix(path.Base(name), "test_"), ".txt")
			s.judge(short, charsetOf(scanner, text), want)
			return nil
		}
		for i, one := range bytes.Split(append([]byte("\n"), text...), []byte("\n#data\n"))[1:] {
			page, rest, ok := bytes.Cut(one, []byte("\n#encoding\n"))
			if !ok {
				return fmt.Errorf("%s: case %d names no encoding", name, i+1)
			}
			want, _, _ := strings.Cut(string(rest), "\n")
			s.judge(
				fmt.Sprintf("%s, case %d: %.80q", short, i+1, page), charsetOf(scanner, page),
				strings.ToLower(strings.TrimSpace(want)),
			)
		}
		return nil
	})
	return s, err
}
