package parsers

import (
	"strconv"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/state/attempt"
	"orbweaver/internal/urlx"
)

// appendExchange appends the header field of a capture that says what its dates do not: how long the exchange took, how
// long the site had been left alone before, and the delays in force if they are not those of the warcinfo record. So
// the archive alone shows whether the delays between requests were kept. docs/warc.md has the form.
func (m *MetadataOptions) appendExchange(dst []byte, p *fetch.Page, a *attempt.Attempt) []byte {
	took := max(p.Times.Ended.Sub(p.Times.Started), 0)
	dst = append(append(dst, capture.ExchangeField...), ": took="...)
	dst = appendSeconds(dst, (took + time.Microsecond - 1).Truncate(time.Microsecond))
	if a.Delays.Idle >= 0 {
		dst = appendSeconds(append(dst, " idle="...), a.Delays.Idle)
	}
	if a.Delays.IPIdle >= 0 {
		dst = appendSeconds(append(dst, " ip-idle="...), a.Delays.IPIdle.Truncate(time.Millisecond))
	}
	if a.Delays.Group != "" {
		dst = append(append(dst, " group="...), a.Delays.Group...)
	}
	if m.StateDelays || a.Delays.Host != m.Policy.HostDelay {
		dst = appendSeconds(append(dst, " host-delay="...), a.Delays.Host)
	}
	if m.StateDelays || a.Delays.IP != m.Policy.IPDelay {
		dst = appendSeconds(append(dst, " ip-delay="...), a.Delays.IP)
	}
	if m.StateDelays || a.Delays.CrawlMax != m.Policy.CrawlDelayMax {
		dst = appendSeconds(append(dst, " crawl-delay-max="...), a.Delays.CrawlMax)
	}
	if a.IsRobots && !isRobotsFile(a.URL) {
		dst = append(append(dst, ' '), capture.ForRobots...)
	}
	return append(dst, "\r\n"...)
}

// isRobotsFile says whether a URL is that of a robots.txt, and not what one redirects to.
func isRobotsFile(url []byte) bool {
	_, path := urlx.Split(url)
	return string(path) == robots.FilePath
}

// appendSeconds appends a duration as a decimal number of seconds, good to a microsecond.
func appendSeconds(dst []byte, d time.Duration) []byte {
	return strconv.AppendFloat(dst, float64(d/time.Microsecond)/1e6, 'f', -1, 64)
}
