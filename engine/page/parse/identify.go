package parse

import (
	"bytes"
	"encoding/binary"
	"strings"

	"orbweaver/internal/mediatype"
)

// identifyMost is how many bytes of a payload are analysed. It is what sniff looks at.
const identifyMost = 512

// signature is the beginning of the files of a type. A question mark stands for any byte. Files of a narrower type
// begin in the same way: narrower is its beginning.
type signature struct{ begin, media, narrower string }

// signatures are those of types that can be identified by their first bytes (mimesniff.spec.whatwg.org).
var signatures = [...]signature{ //nolint:gochecknoglobals // a table
	{"%PDF-", "application/pdf", ""},
	{"\x89PNG\r\n\x1a\n", "image/png", ""},
	{"\xff\xd8\xff", "image/jpeg", ""},
	{"GIF87a", "image/gif", ""},
	{"GIF89a", "image/gif", ""},
	{"RIFF????WEBPVP", "image/webp", ""},
	{"RIFF????WAVE", "audio/wave", ""},
	{"RIFF????AVI ", "video/avi", ""},
	{"FORM????AIFF", "audio/aiff", ""},
	{"MThd\x00\x00\x00\x06", "audio/midi", ""},
	{"\x00\x00\x01\x00", "image/x-icon", ""},
	{"\x00\x00\x02\x00", "image/x-icon", ""},
	{"BM????\x00\x00\x00\x00", "image/bmp", ""},
	{"\x1a\x45\xdf\xa3", "video/webm", "video/x-matroska"},
	{"OggS\x00", "application/ogg", "audio/ogg"},
	{"ID3", "audio/mpeg", ""},
	{"wOFF", "font/woff", ""},
	{"wOF2", "font/woff2", ""},
	{"OTTO", "font/otf", ""},
	{"\x1f\x8b\x08", "application/gzip", ""},
	{"PK\x03\x04", "application/zip", "application/"},
	{"Rar!\x1a\x07", "application/x-rar-compressed", ""},
	{"%!PS-Adobe-", "application/postscript", ""},
	{"\x00asm", "application/wasm", ""},
}

func (s signature) fits(b []byte) bool {
	if len(b) < len(s.begin) {
		return false
	}
	for i := range len(s.begin) {
		if c := s.begin[i]; c != b[i] && c != '?' {
			return false
		}
	}
	return true
}

// AppendMediaType appends the media type of a payload without content encodings, such as text/html, as its first bytes
// show it. The declared type makes text, XML and unknown formats narrower. It is never taken against the bytes. Nothing
// is appended without bytes. A declared type that is not valid may do so, too, as far as it can be guessed.
func AppendMediaType(dst, payload, contentType []byte) []byte {
	if len(payload) == 0 {
		return dst
	}
	start := payload[:min(len(payload), identifyMost)]
	declared, _ := splitContentType(contentType)
	if declared == nil {
		declared = mediatype.Hint(contentType)
	}
	if !declared.isName() {
		declared = nil
	}
	switch sniff(start) {
	case HTML:
		if fold(declared, "application/xhtml+xml") {
			return append(dst, "application/xhtml+xml"...)
		}
		return append(dst, "text/html"...)
	case XML:
		if declared.format() == XML || declared.format() == HTML {
			return declared.appendLower(dst)
		}
		return append(dst, "text/xml"...)
	}
	for _, s := range signatures {
		if s.fits(start) {
			if declared.hasPrefix(s.narrower) && s.narrower != "" && !declared.isVague() {
				return declared.appendLower(dst)
			}
			return append(dst, s.media...)
		}
	}
	isText, isBox := isTextual(start), isBoxFile(start)
	switch {
	case isBox && (declared.hasPrefix("video/") || declared.hasPrefix("audio/") || declared.hasPrefix("image/")):
		return declared.appendLower(dst)
	case isBox && bytes.HasPrefix(start[8:], []byte("avif")):
		return append(dst, "image/avif"...)
	case isBox && hasMP4Brand(start):
		return append(dst, "video/mp4"...)
	case isText && declared.isText():
		return declared.appendLower(dst)
	case isText:
		return append(dst, "text/plain"...)
	case len(declared) == 0, declared.isText(), declared.isVague(), declared.hasSignature():
		return append(dst, "application/octet-stream"...)
	}
	return declared.appendLower(dst)
}

// isBoxFile reports whether bytes begin a file of the ISO base media format: a video, a sound or an image.
func isBoxFile(b []byte) bool { return len(b) >= 12 && string(b[4:8]) == "ftyp" }

// hasMP4Brand reports whether one of the brands of such a file is a version of MP4 (mimesniff.spec.whatwg.org, section
// 6.2.1).
func hasMP4Brand(b []byte) bool {
	size := int(min(binary.BigEndian.Uint32(b), identifyMost))
	for at := 8; at+4 <= min(size, len(b)); at += 4 {
		if at != 12 && string(b[at:at+3]) == "mp4" { // at 12 is a version
			return true
		}
	}
	return false
}

// IsCharsetInHeaderOnly reports whether the header field Content-Type names a character set for a media type, and the
// first bytes of the payload name none.
func IsCharsetInHeaderOnly(media, payload, contentType []byte) bool {
	declared, label := splitContentType(contentType)
	if len(label) == 0 || len(declared) != len(media) || !bytes.EqualFold(declared, media) {
		return false
	}
	start := payload[:min(len(payload), prescanMax)]
	for _, mark := range [...]string{"\xEF\xBB\xBF", "\xFE\xFF", "\xFF\xFE"} {
		if bytes.HasPrefix(start, []byte(mark)) {
			return false
		}
	}
	for i, c := range start {
		if c |= 0x20; c == 'c' && foldPrefix(start[i:], "charset") || c == 'e' && foldPrefix(start[i:], "encoding") {
			return false
		}
	}
	return true
}

// isTextual reports whether bytes have no control characters that text has not, or begin as UTF-16.
func isTextual(b []byte) bool {
	if bytes.HasPrefix(b, []byte("\xfe\xff")) || bytes.HasPrefix(b, []byte("\xff\xfe")) {
		return true
	}
	for _, c := range b {
		if c < ' ' && (c < '\t' || c == '\v' || c > '\r' && c != 0x1b) {
			return false
		}
	}
	return true
}

// isName reports whether a declared type has the form type/subtype, with a length that a header should have.
func (m mediaType) isName() bool {
	slash := bytes.IndexByte(m, '/')
	if slash < 1 || slash == len(m)-1 || len(m) > 100 {
		return false
	}
	for i, c := range m {
		if i != slash && (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && strings.IndexByte("+-._", c) < 0 {
			return false
		}
	}
	return true
}

// isText reports whether payloads of the type are text.
func (m mediaType) isText() bool {
	return m.hasPrefix("text/") || m.isScript() || m.isJSON() || m.format() == XML || fold(m, "application/rtf")
}

// isVague reports whether the type says nothing.
func (m mediaType) isVague() bool {
	return fold(m, "application/octet-stream") || fold(m, "binary/octet-stream") || fold(m, "application/x-download") ||
		fold(m, "application/force-download") || fold(m, "application/download")
}

// hasSignature reports whether bytes of the type are known by their beginning.
func (m mediaType) hasSignature() bool {
	for _, s := range signatures {
		if fold(m, nameKey(s.media)) {
			return true
		}
	}
	return isOneOf(m, "video/mp4", "image/avif")
}

func (m mediaType) hasPrefix(prefix string) bool {
	return foldPrefix(m, nameKey(prefix))
}

// appendLower appends the type in lower case.
func (m mediaType) appendLower(dst []byte) []byte {
	for _, c := range m {
		dst = append(dst, lower[c])
	}
	return dst
}
