package replay

import (
	"io"
	"regexp"
	"strings"

	"orbweaver/internal/urlx"
)

// rewriteMost is how many bytes of HTML and of a style sheet are rewritten.
const rewriteMost = 32 << 20

// resolve returns a reference of a page as a whole URL of the web. Its fragment stays.
func resolve(base []byte, ref string) (url string, ok bool) {
	ref = strings.TrimSpace(ref)
	if ref == "" || ref[0] == '#' {
		return "", false
	}
	plain, fragment, has := strings.Cut(ref, "#")
	whole, err := urlx.Resolve(nil, base, []byte(plain))
	if err != nil {
		return "", false
	}
	url = string(whole)
	if has {
		url += "#" + fragment
	}
	return url, true
}

// rewriteSheet writes a style sheet with the addresses of what it refers to.
func rewriteSheet(w io.Writer, body io.Reader, t target, base []byte) error {
	text, err := io.ReadAll(io.LimitReader(body, rewriteMost))
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, rewriteCSS(string(text), t, base)); err != nil {
		return err
	}
	_, err = io.Copy(w, body)
	return err
}

var (
	cssURL    = regexp.MustCompile(`(?i)\burl\(\s*(?:"([^"\\\n]*)"|'([^'\\\n]*)'|([^\s"'()\\]+))\s*\)`)
	cssImport = regexp.MustCompile(`(?i)@import\s+(?:"([^"\\\n]*)"|'([^'\\\n]*)')`)
)

// rewriteCSS replaces the references of a style sheet. One with an escape stays as it is.
func rewriteCSS(css string, t target, base []byte) string {
	css = replaceIn(css, cssURL, t, base, func(url string) string { return `url("` + url + `")` })
	return replaceIn(css, cssImport, t, base, func(url string) string { return `@import "` + url + `"` })
}

// replaceIn replaces each match whose reference has an address.
func replaceIn(css string, form *regexp.Regexp, t target, base []byte, as func(url string) string) string {
	return form.ReplaceAllStringFunc(css, func(whole string) string {
		ref := strings.Join(form.FindStringSubmatch(whole)[1:], "")
		if isReplayed(ref) {
			return whole
		}
		url, ok := resolve(base, ref)
		if !ok || strings.ContainsAny(url, "\"\\\n") {
			return whole
		}
		return as(t.address(url))
	})
}

// isReplayed says that a reference was rewritten before: @import url(...) matches once.
func isReplayed(ref string) bool {
	_, ok := parseTarget(ref)
	return ok
}
