package replay

import (
	"bufio"
	"html/template"
	"io"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"orbweaver/warc/lookup"
)

// rewriter writes a page with the addresses of what it refers to.
type rewriter struct {
	out     *bufio.Writer
	t       target
	base    []byte
	hasBase bool
	inStyle bool
	frames  bool // the page is a frame set
}

// rewriteHTML writes a page in UTF-8. With a bar it says what it is.
func rewriteHTML(w io.Writer, body io.Reader, contentType string, t target, c *lookup.Capture, hasBar bool) error {
	text, err := charset.NewReader(body, contentType)
	if err != nil && err != io.EOF { //nolint:errorlint // NewReader's own word
		return err
	}
	if err != nil {
		text = strings.NewReader("")
	}
	limited := &io.LimitedReader{R: text, N: rewriteMost}
	z := html.NewTokenizer(limited)
	r := &rewriter{out: bufio.NewWriterSize(w, 16<<10), t: t, base: c.URL}
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		r.token(kind, z)
	}
	if err := z.Err(); err != io.EOF { //nolint:errorlint // the tokenizer's own word
		return err
	}
	_, _ = r.out.Write(z.Raw()) // an unfinished tag; the writer keeps the first error for Flush
	if limited.N == 0 {
		if _, err := io.Copy(r.out, text); err != nil {
			return err
		}
	} else if hasBar && !r.frames {
		_ = bar.Execute(r.out, struct{ URL, Time string }{string(c.URL), formatTime(c)}) // as above
	}
	return r.out.Flush()
}

// bar says that a page is archived. Its style cannot be changed by that of the page.
var bar = template.Must(template.New("bar").Parse(
	`<div style="all:initial;position:fixed;bottom:8px;right:8px;z-index:2147483647;background:#222;color:#fff;` +
		`font:13px/1.4 system-ui,sans-serif;padding:4px 10px;border-radius:4px;opacity:.9">archived {{.Time}} ` +
		`<a style="all:unset;cursor:pointer;text-decoration:underline" href="/captures?url={{.URL}}">other times</a> ` +
		`<a style="all:unset;cursor:pointer;text-decoration:underline" href="/">all pages</a></div>`,
))

// token writes one token, unchanged if nothing in it is a reference.
func (r *rewriter) token(kind html.TokenType, z *html.Tokenizer) {
	raw := string(z.Raw()) // before the token is read, which changes it
	switch kind {
	case html.StartTagToken, html.SelfClosingTagToken:
		tag := z.Token()
		r.inStyle = tag.Data == "style" && kind == html.StartTagToken
		r.frames = r.frames || tag.Data == "frameset"
		if tag.Data == "meta" && isPolicy(&tag) {
			return
		}
		if r.rewriteTag(&tag) {
			raw = tag.String()
		}
	case html.TextToken:
		if r.inStyle {
			raw = rewriteCSS(raw, r.t, r.base)
		}
	case html.EndTagToken:
		r.inStyle = false
	}
	_, _ = r.out.WriteString(raw) // the writer keeps the first error for Flush
}

// attribute returns the value of an attribute; "" if there is none.
func attribute(tag *html.Token, name string) string {
	for i := range tag.Attr {
		if tag.Attr[i].Key == name {
			return tag.Attr[i].Val
		}
	}
	return ""
}

// isPolicy says that a meta element would forbid what the archive serves, or declares the character set that the page
// had.
func isPolicy(tag *html.Token) bool {
	switch strings.ToLower(attribute(tag, "http-equiv")) {
	case "content-security-policy", "x-frame-options", "content-type":
		return true
	}
	return attribute(tag, "charset") != ""
}

// rewriteTag replaces references in a tag, and says whether it has changed.
func (r *rewriter) rewriteTag(tag *html.Token) (changed bool) {
	if tag.Data == "base" && !r.hasBase {
		if url, ok := resolve(r.base, attribute(tag, "href")); ok {
			r.base, r.hasBase = []byte(url), true
		}
	}
	kept := tag.Attr[:0]
	hasSource := attribute(tag, "src") != "" && !strings.HasPrefix(attribute(tag, "src"), "data:")
	for _, a := range tag.Attr {
		was := a.Val
		switch key := strings.ToLower(a.Key); {
		case key == "integrity" || key == "ping" || key == "nonce":
			changed = true
			continue
		case key == "srcset" || key == "imagesrcset":
			a.Val = r.rewriteSet(a.Val)
		case key == "style":
			a.Val = rewriteCSS(a.Val, r.t, r.base)
		case key == "content" && strings.EqualFold(attribute(tag, "http-equiv"), "refresh"):
			a.Val = r.rewriteRefresh(a.Val)
		case isReference(key, tag.Data):
			a.Val = r.rewrite(a.Val)
		case key == "data-src" && !hasSource && (tag.Data == "img" || tag.Data == "iframe"):
			a.Key, a.Val = "src", r.rewrite(a.Val) // a script would have done that
			changed = true
		}
		changed = changed || a.Val != was
		kept = append(kept, a)
	}
	tag.Attr = kept
	return changed
}

// isReference says whether an attribute has a URL.
func isReference(key, tag string) bool {
	switch key {
	case "href", "src", "action", "formaction", "poster", "background", "xlink:href", "manifest", "longdesc":
		return true
	case "data":
		return tag == "object"
	}
	return false
}

// rewrite returns the address of a reference, or the reference if it has none.
func (r *rewriter) rewrite(ref string) string {
	if url, ok := resolve(r.base, ref); ok {
		return r.t.address(url)
	}
	return ref
}

var setCandidate = regexp.MustCompile(`([^\s,]\S*[^\s,])(\s+[^,]+)?(?:,|$)`)

// rewriteSet rewrites the images of a srcset.
func (r *rewriter) rewriteSet(set string) string {
	var out []string
	for _, m := range setCandidate.FindAllStringSubmatch(set, -1) {
		out = append(out, r.rewrite(m[1])+m[2])
	}
	return strings.Join(out, ", ")
}

var refreshForm = regexp.MustCompile(`(?i)^(\s*[\d.]*\s*[;,]\s*(?:url\s*=\s*)?)["']?([^"']+)["']?\s*$`)

// rewriteRefresh rewrites the target of a refresh.
func (r *rewriter) rewriteRefresh(content string) string {
	m := refreshForm.FindStringSubmatch(content)
	if m == nil {
		return content
	}
	return m[1] + r.rewrite(m[2])
}
