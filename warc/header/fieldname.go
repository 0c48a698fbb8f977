package header

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
