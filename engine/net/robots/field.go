package robots

import (
	"bytes"
	"strconv"
	"time"
)

// blanks are the bytes that may stand around keys and values.
const blanks = " \t\v\f"

// field is the kind of a line.
type field uint8

const (
	fieldUnknown field = iota
	fieldAgent
	fieldAllow
	fieldDisallow
	fieldDelay
	fieldSitemap
)

// cutField splits a line at its colon. A line of two words without a colon is accepted, since the colon is often
// forgotten. A colon in the second word, as in a URL, does not count if the first one is a key.
func cutField(s []byte) (key, value []byte, ok bool) {
	key, value, ok = bytes.Cut(s, []byte(":"))
	if word := bytes.IndexAny(key, blanks); ok && word >= 0 && fieldOf(bytes.Trim(key, blanks)) == fieldUnknown {
		ok = fieldOf(key[:word]) == fieldUnknown
	}
	if !ok {
		blank := bytes.IndexAny(s, blanks)
		if blank < 0 {
			return nil, nil, false
		}
		key, value = s[:blank], bytes.Trim(s[blank:], blanks)
		if bytes.ContainsAny(value, blanks) {
			return nil, nil, false
		}
	}
	return bytes.Trim(key, blanks), bytes.Trim(value, blanks), len(key) > 0
}

// fieldOf returns the kind of a key. It accepts common misspellings.
func fieldOf(key []byte) field {
	if len(key) > 16 {
		return fieldUnknown
	}
	switch string(bytes.ToLower(key)) {
	case "user-agent", "useragent", "user agent":
		return fieldAgent
	case "allow":
		return fieldAllow
	case "disallow", "dissallow", "dissalow", "disalow", "diasllow", "disallaw":
		return fieldDisallow
	case "crawl-delay", "crawldelay", "crawl delay":
		return fieldDelay
	case "sitemap", "sitemaps", "site-map", "site map", "sitemap-index":
		return fieldSitemap
	}
	return fieldUnknown
}

// delayMaxMs is the longest stored crawl delay, in milliseconds: 100 years. Larger ones are cut to it.
const delayMaxMs = 100 * 365 * 24 * 3600 * 1000

// parseDelay parses a crawl delay: seconds, perhaps with a fraction and a unit.
func parseDelay(value []byte) (time.Duration, bool) {
	n := 0
	for n < len(value) && (value[n] >= '0' && value[n] <= '9' || bytes.IndexByte([]byte(".eE"), value[n]) >= 0) {
		n++
	}
	number := bytes.TrimRight(value[:n], "eE")
	seconds, err := strconv.ParseFloat(string(number), 64)
	if err != nil && seconds == 0 {
		return 0, false // a number out of range becomes infinity, which means a very long delay
	}
	switch unit := string(bytes.ToLower(bytes.Trim(value[n:], blanks))); unit {
	case "ms":
		seconds /= 1000
	case "m", "min", "minute", "minutes":
		seconds *= 60
	case "h", "hour", "hours":
		seconds *= 3600
	}
	return time.Duration(min(seconds*1000, delayMaxMs)) * time.Millisecond, true
}
