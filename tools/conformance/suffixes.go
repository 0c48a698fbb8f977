package main

import (
	"fmt"
	"io/fs"
	"strings"

	"orbweaver/engine/page/filter"
	"orbweaver/internal/urlx"
)

// registrableDomains scores the public suffix list's own cases. Scopes have no "none": what has no registrable domain
// is its own, so that this is asked for where the suite says null.
func registrableDomains(data fs.FS) (s score, err error) {
	text, err := fs.ReadFile(data, "psl/tests.txt")
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(string(text)) {
		name, want, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || strings.HasPrefix(line, "//") {
			continue
		}
		if name == "null" {
			s.skipped++ // no name at all
			continue
		}
		if want == "null" {
			want = name
		}
		url, err := urlx.Normalize(nil, []byte("http://"+name+"/"))
		if err != nil {
			return s, fmt.Errorf("%s: %w", name, err)
		}
		normal, err := urlx.Normalize(nil, []byte("http://"+want+"/"))
		if err != nil {
			return s, fmt.Errorf("%s: %w", want, err)
		}
		s.judge(fmt.Sprintf("%+q", name), domainOf(url, string(urlx.Host(normal))), string(urlx.Host(normal)))
	}
	return s, nil
}

// domainOf finds the registrable domain of a URL by asking a scope: the one wanted first, then all that there can be.
func domainOf(url []byte, wanted string) string {
	host := string(urlx.Host(url))
	asked := []string{wanted, host}
	for rest := host; ; {
		_, after, ok := strings.Cut(rest, ".")
		if !ok {
			break
		}
		asked, rest = append(asked, after), after
	}
	for _, domain := range asked {
		if scope, err := filter.CompileScope(fmt.Sprintf("domain == %q", domain), nil); err == nil &&
			scope.Admits(url, filter.Way{}) {
			return domain
		}
	}
	return "nothing"
}
