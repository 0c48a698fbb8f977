package main

import (
	"fmt"
	"io/fs"
	"strings"

	"orbweaver/engine/parse"
	"orbweaver/internal/mediatype"
)

// latin1 returns the bytes of a text whose code points are bytes; false if some are not.
func latin1(text string) (b []byte, ok bool) {
	for _, r := range text {
		if r > 0xff {
			return nil, false
		}
		b = append(b, byte(r))
	}
	return b, true
}

// charsetUnder is the character set that a plain page is read in if its header has a type; "" if the type is no page.
func charsetUnder(contentType []byte) string {
	res, err := parse.NewScanner(parse.Options{}).Scan([]byte("<!doctype html><p>a"), contentType)
	if err != nil {
		return err.Error()
	}
	return strings.ToLower(res.Charset)
}

// mediaTypes scores files of media types: each is parsed and written, and its charset names the character set.
func mediaTypes(name string) func(data fs.FS) (score, error) {
	return func(data fs.FS) (s score, err error) {
		cases, err := readCases[struct {
			Input    string
			Output   *string
			Encoding *string
		}](data, name)
		for _, c := range cases {
			input, isBytes := latin1(c.Input)
			if !isBytes {
				s.skipped++
				continue
			}
			want, got := "refused", "refused"
			if c.Output != nil {
				text, _ := latin1(*c.Output)
				want = string(text)
			}
			if t, ok := mediatype.Parse(string(input)); ok {
				got = t.String()
			}
			if c.Encoding != nil {
				want, got = want+" in "+strings.ToLower(*c.Encoding), got+" in "+charsetUnder(input)
			}
			s.judge(fmt.Sprintf("%q", c.Input), got, want)
		}
		return s, err
	}
}

// typesOfFields scores lists of values of Content-Type: in several lines, and as one line with commas.
func typesOfFields(data fs.FS) (s score, err error) {
	cases, err := readCases[struct {
		Input    []string
		MimeType *string
	}](data, "fetch/content-types.json")
	for _, c := range cases {
		want := "none"
		if c.MimeType != nil {
			want = *c.MimeType
		}
		for _, between := range []string{", ", ","} {
			input := strings.Join(c.Input, between)
			got := "none"
			if found := mediatype.Extract([]byte(input)); found != nil {
				t, _ := mediatype.Parse(string(found))
				got = t.String()
			}
			s.judge(fmt.Sprintf("%q", input), got, strings.ReplaceAll(want, ", ", between))
		}
	}
	return s, err
}
