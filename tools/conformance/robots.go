package main

import (
	"encoding/json"
	"fmt"
	"io/fs"

	"orbweaver/engine/net/robots"
)

func sayAllowed(yes bool) string {
	if yes {
		return "allowed"
	}
	return "disallowed"
}

// robotsCases scores the published verdicts: those of RFC 9309, or those that go beyond it.
func robotsCases(beyond bool) func(fs.FS) (score, error) {
	type robotsCase struct {
		Test, Robots, Agent, URL string
		Line                     int
		Allowed                  bool
		GoogleOnly               bool `json:"google_only"`
	}
	return func(data fs.FS) (s score, err error) {
		all, err := readCases[robotsCase](data, "robots/google_robots_cases.json")
		for _, c := range all {
			if c.GoogleOnly != beyond {
				continue
			}
			got := refused
			if v, err := robots.Parse([]byte(c.Robots), c.Agent).ExplainURL([]byte(c.URL)); err == nil {
				got = sayAllowed(v.Allowed)
			}
			s.judge(fmt.Sprintf("%s, line %d: %.60q under %.80q", c.Test, c.Line, c.URL, c.Robots), got, sayAllowed(c.Allowed))
		}
		return s, err
	}
}

// robotsParts scores what the published cases say of the parts: each asked through what a crawl uses.
func robotsParts(data fs.FS) (s score, err error) {
	var parts struct {
		ValidProductToken []struct {
			Agent string
			Valid bool
		} `json:"valid_product_token"`
		PathOfURL     []struct{ URL, Path string }        `json:"path_of_url"`
		EscapePattern []struct{ Pattern, Escaped string } `json:"escape_pattern"`
	}
	text, err := fs.ReadFile(data, "robots/google_robots_helpers.json")
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(text, &parts); err != nil {
		return s, err
	}
	for _, c := range parts.ValidProductToken {
		// A group can be meant for a robot if and only if its name is a product token.
		rules := robots.Parse([]byte("User-agent: "+c.Agent+"\nDisallow: /\n"), c.Agent)
		s.judge(fmt.Sprintf("product token %+q", c.Agent), fmt.Sprint(!rules.Allowed([]byte("/x"))), fmt.Sprint(c.Valid))
	}
	for _, c := range parts.PathOfURL {
		s.judge(fmt.Sprintf("path of %+q", c.URL), string(robots.Path([]byte(c.URL))), c.Path)
	}
	for _, c := range parts.EscapePattern {
		rules := robots.Parse([]byte("User-agent: *\nDisallow: /"+c.Pattern+"$\n"), "bot")
		s.judge(fmt.Sprintf("pattern %+q", c.Pattern), sayAllowed(rules.Allowed([]byte("/"+c.Escaped))), "disallowed")
	}
	return s, nil
}
