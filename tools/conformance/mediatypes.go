package main

import (
	"encoding/hex"
	"fmt"
	"io/fs"
	"strings"

	"orbweaver/engine/page/parse"
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

// typeGroups scores the formats in which bodies of a type are searched for links.
func typeGroups(data fs.FS) (s score, err error) {
	cases, err := readCases[struct {
		Input  string
		Groups []string
	}](data, "mimesniff/mime-groups.json")
	for _, c := range cases {
		want := "another"
		for _, group := range c.Groups {
			switch group {
			case "HTML", "XML":
				want = group
			case "JavaScript", "JSON":
				want = "JavaScript or JSON"
			}
		}
		s.judge(c.Input, formatUnder(c.Input), want)
	}
	return s, err
}

// formatUnder is the group of a type by the format in which a body of this type is read.
func formatUnder(contentType string) string {
	res, err := parse.NewScanner(parse.Options{Speculative: true}).Scan([]byte(`"/a/b.html"`), []byte(contentType))
	switch {
	case err != nil:
		return err.Error()
	case res.Format == parse.HTML:
		return "HTML"
	case res.Format == parse.XML:
		return "XML"
	case res.Format == parse.ScriptFile:
		return "JavaScript or JSON"
	}
	return "another"
}

// typesOfBytes scores payloads without a declared type.
func typesOfBytes(data fs.FS) (s score, err error) {
	cases, err := readCases[struct {
		Description string
		Type        string `json:"expected_mime_type"`
		Payload     string
	}](data, "mimesniff/unknown-mime-types.json")
	for _, c := range cases {
		payload, err := hex.DecodeString(strings.ReplaceAll(c.Payload, " ", ""))
		if err != nil {
			return s, fmt.Errorf("%s: %w", c.Description, err)
		}
		s.judge(c.Description, string(parse.AppendMediaType(nil, payload, nil)), c.Type)
	}
	return s, err
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
