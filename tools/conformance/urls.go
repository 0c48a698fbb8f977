package main

import (
	"fmt"
	"io/fs"
	"strings"

	"orbweaver/engine/page/parse"
	"orbweaver/internal/urlx"
)

// refused is the answer to what is no URL.
const refused = "refused"

// urlCase is one case of urltestdata.json.
type urlCase struct {
	Input                                    string
	Base                                     *string
	Href, Protocol, Username, Hostname, Port string
	Failure                                  bool
}

func isWeb(s string) bool { return strings.HasPrefix(s, "http:") || strings.HasPrefix(s, "https:") }

// web says whether a case is about http or https: its result is, or what is refused begins so or stands on such a page.
func (c *urlCase) web() bool {
	if !c.Failure {
		return isWeb(c.Protocol)
	}
	return isWeb(c.Input) || c.Base != nil && isWeb(*c.Base)
}

func (c *urlCase) String() string {
	if c.Base == nil {
		return fmt.Sprintf("%+q", c.Input)
	}
	return fmt.Sprintf("%+q on %+q", c.Input, *c.Base)
}

// resolve gives what we make of the case.
func (c *urlCase) resolve() string {
	var base []byte
	if c.Base != nil {
		var err error
		if base, err = urlx.Normalize(nil, []byte(*c.Base)); err != nil && isWeb(*c.Base) {
			return refused
		}
	}
	url, err := urlx.Resolve(nil, base, []byte(c.Input))
	if err != nil {
		return refused
	}
	return withParts(string(url), string(urlx.Host(url)), urlx.Port(url))
}

func withParts(url, host string, port int) string {
	return fmt.Sprintf("%s (host %s, port %d)", url, host, port)
}

// want gives what the suite makes of it, without fragment and user information: normal forms have neither.
func (c *urlCase) want() string {
	if c.Failure {
		return refused
	}
	href, _, _ := strings.Cut(c.Href, "#")
	scheme, rest, _ := strings.Cut(href, "://")
	authority, path, _ := strings.Cut(rest, "/")
	port := 80
	if scheme == "https" {
		port = 443
	}
	if c.Port != "" {
		port = 0
		for _, digit := range c.Port {
			port = port*10 + int(digit-'0')
		}
	}
	authority = authority[strings.LastIndexByte(authority, '@')+1:]
	return withParts(scheme+"://"+authority+"/"+path, strings.Trim(c.Hostname, "[]"), port)
}

// webURLs scores the cases that are about http and https.
func webURLs(name string) func(fs.FS) (score, error) {
	return func(data fs.FS) (s score, err error) {
		all, err := readCases[urlCase](data, name)
		for _, c := range all {
			if c.web() {
				s.judge(c.String(), c.resolve(), c.want())
			}
		}
		return s, err
	}
}

// otherURLs scores the others: whatever they are, a crawler has no business with them.
func otherURLs(name string) func(fs.FS) (score, error) {
	return func(data fs.FS) (s score, err error) {
		all, err := readCases[urlCase](data, name)
		for _, c := range all {
			if !c.web() {
				s.judge(c.String(), c.resolve(), refused)
			}
		}
		return s, err
	}
}

// hostNames scores a file of names and their ASCII forms.
func hostNames(name string) func(fs.FS) (score, error) {
	type hostCase struct {
		Comment, Input string
		Output         *string
	}
	return func(data fs.FS) (s score, err error) {
		all, err := readCases[hostCase](data, name)
		for _, c := range all {
			if c.Input == "" {
				s.skipped++ // "https:///x" has the host x
				continue
			}
			got, want := refused, refused
			if url, err := urlx.Normalize(nil, []byte("https://"+c.Input+"/x")); err == nil {
				got = string(url)
			}
			if c.Output != nil {
				want = "https://" + *c.Output + "/x"
			}
			label := fmt.Sprintf("%+q", c.Input)
			if c.Comment != "" {
				label += " (" + c.Comment + ")"
			}
			s.judge(label, got, want)
		}
		return s, err
	}
}

// queries scores percent-encoding.json: characters in the query of a link, in pages of several character sets.
func queries(data fs.FS) (s score, err error) {
	type queryCase struct {
		Input  string
		Output map[string]string
	}
	all, err := readCases[queryCase](data, "url/percent-encoding.json")
	scanner := parse.NewScanner(parse.Options{})
	for _, c := range all {
		for _, charset := range sortedKeys(c.Output) {
			// Character references say the same in every character set.
			page := "<a href='http://h/?"
			for _, r := range c.Input {
				page += fmt.Sprintf("&#x%X;", r)
			}
			got := refused
			res, err := scanner.Scan([]byte(page+"'>"), []byte("text/html; charset="+charset))
			if err == nil && len(res.Links) == 1 {
				if url, err := urlx.Normalize(nil, res.Links[0].Ref); err == nil {
					got = string(url)
				}
			}
			s.judge(fmt.Sprintf("%+q in %s", c.Input, charset), got, "http://h/?"+c.Output[charset])
		}
	}
	return s, err
}
