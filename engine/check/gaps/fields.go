package gaps

import (
	"bytes"
	"math"
	"strconv"
	"strings"

	"orbweaver/engine/records/capture"
	"orbweaver/warc"
)

// takeField takes what the header field of a capture says: see docs/warc.md. It returns how long the address had been
// left alone, below 0 if the field does not say, and the group of hosts in the place of the address.
func (x *exchange) takeField(rec *warc.RecordRead) (ipIdle int64, group string) {
	ipIdle = -1
	for word := range strings.FieldsSeq(rec.Get(capture.ExchangeField)) {
		name, value, _ := strings.Cut(word, "=")
		if name == "group" {
			group = value
			continue
		}
		micros, ok := microsIn(value)
		if !ok {
			continue
		}
		switch name {
		case "took":
			x.took, x.flags = micros, x.flags|hasField
		case "idle":
			x.idle = micros
		case "ip-idle":
			ipIdle = micros
		case "host-delay":
			x.host = micros
		case "ip-delay":
			x.ip = micros
		case "crawl-delay-max":
			x.limit = micros
		}
	}
	return ipIdle, group
}

// secondsMost is more than a number of seconds in an archive can mean.
const secondsMost = 1e9

// microsIn parses a decimal number of seconds.
func microsIn(value string) (int64, bool) {
	s, err := strconv.ParseFloat(value, 64)
	if err != nil || !(s >= 0 && s < secondsMost) {
		return 0, false
	}
	return int64(math.Round(s * 1e6)), true
}

// takeFetchTime takes the duration from a metadata record, in the names of Heritrix.
func (x *exchange) takeFetchTime(block []byte) {
	for line := range bytes.Lines(block) {
		value, ok := bytes.CutPrefix(line, []byte("fetchTimeMs:"))
		if !ok {
			continue
		}
		if ms, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 40); err == nil && ms >= 0 {
			x.took, x.flags = ms*1000, x.flags|coarseEnd
		}
	}
}

// isCoarse reports whether a WARC-Date has no fraction of a second.
func isCoarse(rec *warc.RecordRead) bool { return !strings.Contains(rec.Get("WARC-Date"), ".") }
