package columns

import (
	"strings"

	"orbweaver/derive"
	"orbweaver/engine/parse"
)

// detect returns the media type by content and the character set of a record: what the archive says, or else what the
// first bytes show, in the same way as the crawler.
func detect(rec *derive.Record, scanner *parse.Scanner) (media, charset string) {
	media = rec.Get("WARC-Identified-Payload-Type")
	start := rec.BodyStart()
	if len(start) == 0 {
		return media, ""
	}
	declared := []byte(rec.ContentType())
	found := string(parse.AppendMediaType(nil, start, declared))
	if strings.HasPrefix(found, "text/") || strings.HasSuffix(found, "xml") {
		res, _ := scanner.Scan(start, declared) // an error leaves the character set
		charset = charsetName(res.Charset)
	}
	if media == "" {
		media = found
	}
	return media, charset
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
