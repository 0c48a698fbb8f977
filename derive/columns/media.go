package columns

import (
	"bytes"
	"strings"

	"orbweaver/derive"
	"orbweaver/engine/parse"
)

// signature is the start of a kind of files, and their media type.
type signature struct{ start, media string }

// signatures returns the table of signatures.
func signatures() []signature {
	return []signature{
		{"%PDF-", "application/pdf"},
		{"\x89PNG\r\n\x1a\n", "image/png"},
		{"\xff\xd8\xff", "image/jpeg"},
		{"GIF87a", "image/gif"},
		{"GIF89a", "image/gif"},
		{"PK\x03\x04", "application/zip"},
		{"\x1f\x8b\x08", "application/gzip"},
		{"wOFF", "font/woff"},
		{"wOF2", "font/woff2"},
		{"ID3", "audio/mpeg"},
		{"OggS", "application/ogg"},
		{"\x1aE\xdf\xa3", "video/webm"},
	}
}

// detect returns the media type by content and the character set of a record: what the archive says, or else what the
// first bytes show.
func detect(rec *derive.Record, scanner *parse.Scanner) (media, charset string) {
	media = rec.Get("WARC-Identified-Payload-Type")
	start := rec.BodyStart()
	if len(start) == 0 {
		return media, ""
	}
	found := ""
	for _, s := range signatures() {
		if bytes.HasPrefix(start, []byte(s.start)) {
			found = s.media
		}
	}
	if found == "" {
		declared, _, _ := strings.Cut(strings.ToLower(rec.ContentType()), ";")
		res, _ := scanner.Scan(start, []byte(rec.ContentType())) // an error leaves the format
		charset = charsetName(res.Charset)
		found = textType(res.Format, strings.TrimSpace(declared), start)
	}
	if media == "" {
		media = found
	}
	return media, charset
}

// textType returns the media type of a text by the way in which the parser reads it.
func textType(f parse.Format, declared string, start []byte) string {
	switch f {
	case parse.HTML:
		return "text/html"
	case parse.XML, parse.SitemapXML:
		if declared == "application/xhtml+xml" || declared == "image/svg+xml" {
			return declared
		}
		return "application/xml"
	case parse.FeedFile:
		if bytes.Contains(start, []byte("<rss")) {
			return "application/rss+xml"
		}
		return "application/atom+xml"
	case parse.Style:
		return "text/css"
	}
	if strings.HasPrefix(declared, "text/") && bytes.IndexByte(start, 0) < 0 {
		return declared
	}
	return ""
}

// charsetName returns a name of the Encoding Standard in the spelling of Java, which Common Crawl's table has.
func charsetName(name string) string {
	switch {
	case name == "big5":
		return "Big5"
	case name == "shift_jis":
		return "Shift_JIS"
	case strings.HasPrefix(name, "windows-"):
		return name
	}
	return strings.ToUpper(name)
}
