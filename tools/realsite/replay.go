package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"
)

// judgeReplay shows the archive of a crawl with orbweaver view, and asks for the first page of each site and for all
// that it consists of, as a browser would: style sheets, what these import and show, and images. All must be in the
// archive, but those of hosts that do not exist here.
func (r *crawls) judgeReplay(ctx context.Context, name string, of []*site) (err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	view := exec.CommandContext(ctx, r.crawler, "view", r.path(name), "--listen", "127.0.0.1:0")
	out, err := view.StdoutPipe()
	if err != nil {
		cancel()
		return err
	}
	if err := view.Start(); err != nil {
		cancel()
		return err
	}
	defer func() {
		cancel()
		var killed *exec.ExitError
		if ended := view.Wait(); !errors.As(ended, &killed) {
			err = errors.Join(err, ended)
		}
	}()
	b := browser{ctx: ctx}
	for in := bufio.NewScanner(out); b.server == "" && in.Scan(); {
		if address := strings.TrimSpace(in.Text()); strings.HasPrefix(address, "http://") {
			b.server = strings.TrimSuffix(address, "/")
		}
	}
	for _, s := range of {
		b.parts, b.missing = map[string]bool{}, nil
		if err := b.open("/" + s.seed()); err != nil {
			return fmt.Errorf("view of %s: %w", s.name, err)
		}
		if slices.Sort(b.missing); len(b.missing) > 0 {
			r.fail("%s: a part of its first page is not in the archive: %s", s.name, strings.Join(b.missing, " "))
		}
		r.say("%s: the first page is shown with %d style sheets and images", s.name, len(b.parts))
	}
	return nil
}

// browser asks a replay server for pages and their parts.
type browser struct {
	ctx     context.Context //nolint:containedctx // one run's
	server  string
	parts   map[string]bool // addresses of the page that is open
	missing []string        // those that the archive does not have
}

// isPart says that an address is one of the archive, and of a site: /TIME/URL.
var isPart = regexp.MustCompile(`^/\d{14}/http://\w+\.test/`)

// open asks for a page and its parts.
func (b *browser) open(path string) error {
	page, _, err := b.get(path)
	if err != nil {
		return err
	}
	z := html.NewTokenizer(strings.NewReader(page))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		token := z.Token()
		isSheet := token.Data == "link" && strings.Contains(attribute(&token, "rel"), "stylesheet")
		switch {
		case kind != html.StartTagToken && kind != html.SelfClosingTagToken:
		case isSheet:
			err = b.add(attribute(&token, "href"))
		case token.Data == "img":
			err = b.add(attribute(&token, "src"))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func attribute(token *html.Token, name string) string {
	for _, a := range token.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// cssPart is a reference of a style sheet that view has rewritten.
var cssPart = regexp.MustCompile(`(?:url\(|@import )"(/\d{14}/[^"]+)"`)

// add asks for a part of the page, and for those of a style sheet.
func (b *browser) add(path string) error {
	path, _, _ = strings.Cut(path, "#")
	if !isPart.MatchString(path) || b.parts[path] {
		return nil
	}
	b.parts[path] = true
	text, media, err := b.get(path)
	if err != nil || !strings.HasPrefix(media, "text/css") {
		return err
	}
	for _, m := range cssPart.FindAllStringSubmatch(text, -1) {
		if err := b.add(m[1]); err != nil {
			return err
		}
	}
	return nil
}

// get asks for an address, and follows redirects. What the archive has comes with the time of its capture.
func (b *browser) get(path string) (body, media string, err error) {
	request, err := http.NewRequestWithContext(b.ctx, http.MethodGet, b.server+path, http.NoBody)
	if err != nil {
		return "", "", err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", "", err
	}
	defer answer.Body.Close() //nolint:errcheck // read to its end
	if answer.Header.Get("Memento-Datetime") == "" {
		b.missing = append(b.missing, path)
	}
	text, err := io.ReadAll(answer.Body)
	return string(text), answer.Header.Get("Content-Type"), err
}
