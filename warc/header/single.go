package header

import (
	"slices"
	"strings"
)

// SingleFields is the number of fields that may occur only once.
const SingleFields = 14

// SingleField returns the index of a name among them, -1 for other names. WARC-Concurrent-To may be repeated, and
// foreign fields are not known.
func SingleField(name string) int {
	single := [SingleFields]string{
		"WARC-Type", "WARC-Record-ID", "WARC-Date", "Content-Length", "Content-Type", "WARC-Target-URI",
		"WARC-IP-Address", "WARC-Block-Digest", "WARC-Payload-Digest", "WARC-Refers-To", "WARC-Truncated",
		"WARC-Warcinfo-ID", "WARC-Filename", "WARC-Profile",
	}
	return slices.IndexFunc(single[:], func(s string) bool { return strings.EqualFold(s, name) })
}
