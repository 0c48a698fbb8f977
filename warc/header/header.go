package header

import (
	"bytes"
	"net/netip"
	"strings"
	"time"
)

// ARCMagic is how a file begins.
const ARCMagic = "filedesc:"

// ARCHeader is the header line of a record.
type ARCHeader struct {
	URL, IP, MIME []byte // parts of the line
	Time          time.Time
	Length        []byte // of the block in bytes: digits
}

// ParseARC reads a header line, without its end. ok is false for any other line.
func ParseARC(line []byte) (h ARCHeader, ok bool) {
	words := bytes.Split(line, []byte(" "))
	last := len(words) - 1
	if last < 4 || !isNumber(words[last]) {
		return h, false
	}
	// The time lies behind the address, and both behind the URL.
	for i := 2; i < last; i++ {
		at, err := time.Parse("20060102150405"[:min(len(words[i]), 14)], string(words[i]))
		if len(words[i]) < 12 || err != nil || !isAddress(words[i-1]) {
			continue
		}
		mime := words[i+1 : last]
		if len(mime) > versionTwo {
			mime = mime[:len(mime)-versionTwo]
		}
		h = ARCHeader{
			URL: bytes.Join(words[:i-1], []byte("%20")), IP: words[i-1], Time: at,
			MIME: bytes.Join(mime, []byte(" ")), Length: words[last],
		}
		return h, bytes.IndexByte(h.URL, ':') > 0
	}
	return h, false
}

// versionTwo is how many words version 2 has between type and length: status, checksum, location, offset, file.
const versionTwo = 5

func isNumber(b []byte) bool {
	return len(b) > 0 && len(b) < 19 && len(bytes.Trim(b, "0123456789")) == 0
}

// isAddress reports whether a word is an IP address, or what writers put there without one.
func isAddress(b []byte) bool {
	_, err := netip.ParseAddr(string(b))
	return err == nil || string(b) == "-" || string(b) == "0.0.0.0"
}

// Fields returns the names and values of the fields that a WARC record would have in place of the line.
func (h *ARCHeader) Fields() [][2]string {
	kind, media := "resource", string(h.MIME)
	scheme, _, _ := strings.Cut(strings.ToLower(string(h.URL)), ":")
	switch scheme {
	case "filedesc":
		kind = "warcinfo"
	case "dns":
		kind, media = "response", "text/dns"
	case "http", "https":
		kind, media = "response", "application/http; msgtype=response"
	}
	fields := [][2]string{
		{"WARC-Type", kind}, {"WARC-Target-URI", string(h.URL)}, {"WARC-Date", h.Time.Format(time.RFC3339)},
		{"Content-Type", media}, {"Content-Length", string(h.Length)},
	}
	if string(h.IP) != "0.0.0.0" && string(h.IP) != "-" {
		fields = append(fields, [2]string{"WARC-IP-Address", string(h.IP)})
	}
	return fields
}

// FieldName returns the name of a field; for the usual names without a copy.
func FieldName(name []byte) string {
	switch string(name) {
	case "WARC-Type":
		return "WARC-Type"
	case "WARC-Record-ID":
		return "WARC-Record-ID"
	case "WARC-Date":
		return "WARC-Date"
	case "WARC-Target-URI":
		return "WARC-Target-URI"
	case "WARC-IP-Address":
		return "WARC-IP-Address"
	case "WARC-Block-Digest":
		return "WARC-Block-Digest"
	case "WARC-Payload-Digest":
		return "WARC-Payload-Digest"
	case "WARC-Concurrent-To":
		return "WARC-Concurrent-To"
	case "WARC-Warcinfo-ID":
		return "WARC-Warcinfo-ID"
	case "WARC-Refers-To":
		return "WARC-Refers-To"
	case "WARC-Identified-Payload-Type":
		return "WARC-Identified-Payload-Type"
	case "Content-Type":
		return "Content-Type"
	case "Content-Length":
		return "Content-Length"
	}
	return string(name)
}
