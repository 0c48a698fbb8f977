package replay

import (
	"bufio"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"orbweaver/warc/coding"
	"orbweaver/warc/lookup"
)

// send answers with a capture.
func (h *Handler) send(w http.ResponseWriter, r *http.Request, t target, p *lookup.Page) error {
	header := w.Header()
	header.Set("Content-Security-Policy", archivedPolicy)
	header.Set("Memento-Datetime", p.Capture.Time().Format(http.TimeFormat))
	header.Set("Link", "<"+string(p.Capture.URL)+`>; rel="original"`)
	status := p.Head.Status
	if status < 200 || status > 599 {
		status = http.StatusOK
	}
	if to, ok := resolve(p.Capture.URL, p.Head.Get("Location")); ok && status/100 == 3 {
		redirect(w, t.address(to))
		return nil
	}
	if status/100 == 3 || status == http.StatusNoContent || status == http.StatusResetContent {
		status = http.StatusOK // a browser would show nothing of it
	}
	kind := p.Head.ContentType()
	if p.Head.Status == 0 { // a record that is no HTTP message
		kind = string(p.Source.MIME)
	}
	media, _, err := mime.ParseMediaType(kind)
	if err != nil {
		media, _, _ = strings.Cut(kind, ";")
		media = strings.ToLower(strings.TrimSpace(media))
	}
	body, done, err := coding.Decode(p.Body, p.Encoding)
	if err != nil {
		http.Error(w, "This capture cannot be decoded: "+err.Error(), http.StatusBadGateway)
		return nil //nolint:nilerr // the browser was told
	}
	defer done()
	if media == "" { // the browser would find it out, too
		start := bufio.NewReaderSize(body, sniffMost)
		text, _ := start.Peek(sniffMost) // a damaged payload has the type of its start
		kind, body = http.DetectContentType(text), start
		media, _, _ = strings.Cut(kind, ";")
		switch {
		case r.Header.Get("Sec-Fetch-Dest") == "style":
			media, kind = "text/css", "text/css"
		case media == "text/html":
			kind = media // the page may say its character set
		}
	}
	write := func() error { _, err := io.Copy(w, body); return err }
	isRewritten := false
	switch {
	case t.raw:
	case media == "text/html" || media == "application/xhtml+xml":
		said := kind
		write = func() error { return rewriteHTML(w, body, said, t, p.Capture, isStart(r)) }
		isRewritten = true
		kind = "text/html; charset=utf-8" // XHTML, too: a rewritten page may not be well-formed
	case media == "text/css":
		isRewritten = true
		write = func() error { return rewriteSheet(w, body, t, p.Capture.URL) }
	}
	if kind != "" {
		header.Set("Content-Type", kind)
	}
	if size := sizeOf(p); status == http.StatusOK && size > 0 && !isRewritten {
		part, ok := rangeOf(r.Header.Get("Range"), size)
		header.Set("Accept-Ranges", "bytes")
		switch {
		case !ok:
			header.Set("Content-Range", fmt.Sprintf("bytes */%d", size))
			http.Error(w, "There is no such part.", http.StatusRequestedRangeNotSatisfiable)
			return nil
		case !part.isWhole:
			status = http.StatusPartialContent
			header.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", part.from, part.from+part.length-1, size))
		}
		header.Set("Content-Length", strconv.FormatInt(part.length, 10))
		write = func() error { return part.copy(w, body) }
	}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return nil
	}
	return write()
}

// isStart says that a browser wants a page, and not a part of one.
func isStart(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Dest") {
	case "document", "":
		return true
	}
	return false
}
