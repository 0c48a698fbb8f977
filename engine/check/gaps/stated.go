package gaps

import (
	"strconv"
	"strings"
	"time"

	"orbweaver/engine/workers/archive"
	"orbweaver/warc"
)

// era is what holds for the records behind a warcinfo record.
type era struct {
	delays  Delays
	dir     int  // number of the directory: its clock
	isProxy bool // the addresses are those of a proxy
}

// eras numbers what warcinfo records state. There are as many as settings and directories, not as many as files.
type eras struct {
	list    []era
	numbers map[era]int
}

// number returns the number of an era. What comes after erasMax others states nothing.
func (e *eras) number(one era) int {
	if n, known := e.numbers[one]; known {
		return n
	}
	if len(e.list) == erasMax {
		return 0
	}
	if e.numbers == nil {
		e.numbers = map[era]int{{delays: Unstated()}: 0}
		e.list = []era{{delays: Unstated()}}
	}
	n := len(e.list)
	e.list, e.numbers[one] = append(e.list, one), n
	return n
}

// statedIn reads the block of a warcinfo record.
func statedIn(rec *warc.RecordRead) (one era) {
	one.delays = Unstated()
	for line := range strings.Lines(string(rec.Block)) {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case archive.HostDelayField:
			one.delays.Host = durationOf(value)
		case archive.IPDelayField:
			one.delays.IP = durationOf(value)
		case archive.CrawlDelayMaxField:
			one.delays.CrawlDelayMax = durationOf(value)
		case archive.RetryAfterMaxField:
			one.delays.RetryAfterMax = durationOf(value)
		case archive.IPv6PrefixField:
			if n, err := strconv.Atoi(value); err == nil && n > 0 && n <= 128 {
				one.delays.IPv6Prefix = n
			}
		case archive.ProxyField:
			one.isProxy = value == "yes"
		}
	}
	return one
}

// durationOf returns -1 for what is no duration.
func durationOf(value string) time.Duration {
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		return -1
	}
	return d
}
