package parse

import (
	"bytes"

	"orbweaver/internal/mediatype"
)

// sniffed is the format of a body without a declared type.
const sniffed Format = 255

// mediaType is the part of a Content-Type before the parameters.
type mediaType []byte

// splitContentType splits a Content-Type value into media type and charset. Both are nil if no part of it is valid.
func splitContentType(v []byte) (media mediaType, label []byte) {
	essence, label := mediatype.Split(mediatype.Extract(v))
	return mediaType(essence), label
}

func (m mediaType) format() Format {
	switch {
	case len(m) == 0, fold(m, "*/*"), fold(m, "unknown/unknown"), fold(m, "application/unknown"):
		return sniffed
	case fold(m, "text/html"):
		return HTML
	case fold(m, "application/xhtml+xml"), fold(m, "text/xml"), fold(m, "application/xml"), m.endsIn("+xml"),
		isOneOf(m, "text/vnd.wap.wml", "text/x-opml"):
		return XML
	case fold(m, "text/css"):
		return Style
	}
	return None
}

// isScript reports whether a body is JavaScript (mimesniff.spec.whatwg.org, section 4.6).
func (m mediaType) isScript() bool {
	const versions = "text/javascript1." // 0 to 5
	if last := len(versions); len(m) == last+1 && foldPrefix(m, versions) && '0' <= m[last] && m[last] <= '5' {
		return true
	}
	return isOneOf(m, "text/javascript", "application/javascript", "application/x-javascript", "text/ecmascript",
		"application/ecmascript", "text/x-javascript", "text/jscript", "application/x-ecmascript", "text/x-ecmascript",
		"text/livescript")
}

// isJSON reports whether a body is JSON (mimesniff.spec.whatwg.org), or one value of JSON after the other.
func (m mediaType) isJSON() bool {
	return m.endsIn("+json") || isOneOf(m, "application/json", "text/json", "application/x-json", "text/x-json",
		"application/x-ndjson")
}

func (m mediaType) isManifest() bool { return fold(m, "application/manifest+json") }

// isRichText reports whether a body is a text of RTF. Its hyperlinks are strings, as those of scripts are.
func (m mediaType) isRichText() bool { return isOneOf(m, "application/rtf", "text/rtf") }

// isPlaylist reports whether a body is a list of HLS, another M3U list, one of PLS, or a list of URLs (RFC 2483).
func (m mediaType) isPlaylist() bool {
	return isOneOf(m, "application/vnd.apple.mpegurl", "application/x-mpegurl", "application/mpegurl", "audio/mpegurl",
		"audio/x-mpegurl", "video/mpegurl", "video/x-mpegurl", "audio/x-scpls", "text/uri-list")
}

// isOneOf reports whether b is one of some names, ignoring case.
func isOneOf(b []byte, names ...nameKey) bool {
	for _, name := range names {
		if fold(b, name) {
			return true
		}
	}
	return false
}

// isPDF reports whether a body is a PDF file.
func (m mediaType) isPDF() bool { return fold(m, "application/pdf") || fold(m, "application/x-pdf") }

func (m mediaType) endsIn(suffix nameKey) bool {
	return len(m) > len(suffix) && fold(m[len(m)-len(suffix):], suffix)
}

// sniff distinguishes HTML and XML from other formats by the first bytes, as browsers do without a type
// (mimesniff.spec.whatwg.org).
func sniff(body []byte) Format {
	body = bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF"))
	head := body[:min(len(body), 512)]
	for len(head) > 0 && class[head[0]]&isSpace != 0 {
		head = head[1:]
	}
	if foldPrefix(head, "<?xml") || beginsFeed(head) {
		return XML
	}
	if foldPrefix(head, "<!--") {
		return HTML
	}
	for _, mark := range htmlMarks {
		if foldPrefix(head, mark) && len(head) > len(mark) && class[head[len(mark)]]&endsBare != 0 {
			return HTML
		}
	}
	return None
}

// htmlMarks are the beginnings by which browsers know HTML; a space or > must follow.
var htmlMarks = [...]nameKey{
	"<!doctype html", "<html", "<head", "<script", "<iframe", "<h1", "<div", "<font", "<table", "<a", "<style",
	"<title", "<b", "<body", "<br", "<p", "<meta", "<base", "<frameset", "<span", "<ul", "<center",
}
