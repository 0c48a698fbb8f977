package columns

import (
	"cmp"
	"strings"

	"orbweaver/derive"
)

// detect returns the media type by content and the character set of a record: what the archive says, or else what the
// first bytes show.
func detect(rec *derive.Record) (media, charset string) {
	found, charset := rec.Identify()
	return cmp.Or(rec.Get("WARC-Identified-Payload-Type"), found), charsetName(charset)
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
