package replay

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"orbweaver/internal/mediatype"
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
	declared := p.Head.ContentType()
	kind := cmp.Or(declared, string(p.Source.MIME)) // which the bytes have shown, or the type of a record that is not HTTP
	media, label := typeOf(kind)
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
		if media, _ = typeOf(kind); media == "text/html" {
			kind = media // the page may say its character set
		}
	}
	if declared == "" && r.Header.Get("Sec-Fetch-Dest") == "style" {
		media, kind = "text/css", "text/css"
	}
	write := func() error { _, err := io.Copy(w, body); return err }
	isRewritten := false
	switch {
	case t.raw:
	case media == "text/html" || media == "application/xhtml+xml":
		said := media
		if label != "" {
			said += "; charset=" + label
		}
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

// typeOf returns a media type in lower case, and its charset.
func typeOf(contentType string) (media, label string) {
	essence, name := mediatype.Split([]byte(contentType))
	return strings.ToLower(string(essence)), string(name)
}

// isStart says that a browser wants a page, and not a part of one.
func isStart(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Dest") {
	case "document", "":
		return true
	}
	return false
}
