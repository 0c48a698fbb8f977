package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
)

// suite is one published suite, or the part of one that a score is given for.
type suite struct {
	name   string // one word, for held.go and reasons.go
	asks   string // what is asked, for the page
	from   string // where upstream has it
	inform bool   // for information: not what a crawler is judged on
	leaves string // which of its cases are skipped, and why; "" if none
	run    func(data fs.FS) (score, error)
}

// suites are all of them, in the order of the page.
func suites() []suite {
	const wpt, ada, google, html5lib = "web-platform-tests", "ada-url/ada", "google/robotstxt", "html5lib/html5lib-tests"
	return []suite{
		{
			"url", "`urltestdata.json`, http and https: bytes in, normal form, host and port out, or refused", wpt, false, "",
			webURLs("url/urltestdata.json"),
		},
		{"url-others", "`urltestdata.json`, all other schemes: refused", wpt, false, "", otherURLs("url/urltestdata.json")},
		{
			"url-ada", "`ada_extra_urltestdata.json`, http and https", ada, false, "",
			webURLs("url/ada_extra_urltestdata.json"),
		},
		{"url-long", "`ada_long_urltestdata.json`", ada, false, "", webURLs("url/ada_long_urltestdata.json")},
		{"toascii", "`toascii.json`: the ASCII form of a host, or refused", wpt, false, "", hostNames("url/toascii.json")},
		{
			"idna", "`IdnaTestV2.json`: the same for Unicode's own cases", wpt, true,
			"the empty name: a URL parser skips the slashes before it and takes what follows for the host",
			hostNames("url/IdnaTestV2.json"),
		},
		{"query", "`percent-encoding.json`: the query of a link in a page of another character set", wpt, false, "", queries},
		{"robots", "`robots_test.cc`, cases of RFC 9309: allowed or not", google, false, "", robotsCases(false)},
		{"robots-google", "`robots_test.cc`, cases beyond RFC 9309", google, false, "", robotsCases(true)},
		{
			"robots-parts", "`robots_test.cc`: product tokens, the path of a URL, the spelling of patterns", google, false, "",
			robotsParts,
		},
		{
			"charset-jsdom", "sniffed pages: the character set by BOM, meta and fallback", "jsdom/html-encoding-sniffer",
			false, "", snifferPages,
		},
		{"charset-html5lib", "`encoding/**`: the same", html5lib, false, "", encodingTests},
		{
			"mime", "`mime-types.json`: a media type is parsed and written, and its charset is the character set of a page", wpt,
			false, "inputs with characters that no header field can have", mediaTypes("mimesniff/mime-types.json"),
		},
		{
			"mime-generated", "`generated-mime-types.json`: the same for each byte", wpt, false, "",
			mediaTypes("mimesniff/generated-mime-types.json"),
		},
		{
			"mime-groups", "`mime-groups.json`: which types are read as HTML, XML, or as JavaScript or JSON", wpt, false, "",
			typeGroups,
		},
		{
			"mime-sniff", "`unknown-mime-types.json`: the type of a payload without a declared one", wpt, false, "",
			typesOfBytes,
		},
		{"mime-fetch", "`content-types.json`: the type of several fields, and of lists", wpt, false, "", typesOfFields},
		{
			"html5lib",
			"`tokenizer/*.test`: each input, in eight settings for most, gives the links that the tokenizer of " +
				"golang.org/x/net/html gives",
			html5lib, false, "inputs that only SVG or MathML gives a meaning to, which a tokenizer alone does not know",
			tokenizerInputs,
		},
		{
			"soup", fmt.Sprintf("%d documents of tag soup, made from those inputs and from a seed: the same", soups), html5lib,
			false,
			"documents that the tokenizer reads against the standard: in a script, behind `<!--`, it takes `<<` for the end " +
				"of the comment (v0.62.0)",
			soupDocuments,
		},
		{
			"psl", "`tests.txt`: the registrable domain, as scopes see it", "publicsuffix/list", false,
			"the name null, which is none", registrableDomains,
		},
		{
			"warc", "sample archives: every record is read, every digest holds, and the index is right about places",
			"iipc/warc-specifications", false, "", warcSamples,
		},
	}
}

// score is how a suite went.
type score struct {
	passed, total int
	skipped       int // cases that cannot be asked, see suite.leaves
	failures      []failure
}

// failure is one case that went wrong.
type failure struct{ name, got, want string }

// judge counts one case.
func (s *score) judge(name, got, want string) {
	s.total++
	if got == want {
		s.passed++
		return
	}
	s.failures = append(s.failures, failure{name, got, want})
}

// result is a suite with its score.
type result struct {
	suite
	score
	missing bool // its files are not there
}

func scoreAll(data fs.FS, all []suite) (results []result, err error) {
	for _, s := range all {
		got, err := s.run(data)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			results = append(results, result{suite: s, missing: true})
		case err != nil:
			return nil, fmt.Errorf("%s: %w", s.name, err)
		case got.total == 0:
			return nil, fmt.Errorf("%s: no cases", s.name)
		default:
			results = append(results, result{suite: s, score: got})
		}
	}
	return results, nil
}

// readCases reads an array of objects; texts among them are remarks.
func readCases[T any](data fs.FS, name string) (all []T, err error) {
	text, err := fs.ReadFile(data, name)
	if err != nil {
		return nil, err
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, r := range raw {
		if bytes.HasPrefix(r, []byte(`"`)) {
			continue
		}
		var c T
		if err := json.Unmarshal(r, &c); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, c)
	}
	return all, nil
}
