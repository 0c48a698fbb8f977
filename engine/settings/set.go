package settings

import (
	"fmt"
	"time"

	"orbweaver/engine/bandwidth"
	"orbweaver/engine/filter"
	"orbweaver/internal/options"
)

// changeable names the settings that Set changes.
const changeable = "host-delay, ip-delay, bandwidth, host-bandwidth and fetch"

// Set changes a setting of the running crawl, by the name of its flag: host-delay, ip-delay, bandwidth, host-bandwidth,
// or fetch, the filter of URLs before their request. seeds are those that the filter may name. hasVia says that the
// crawl keeps the page on which each URL was found, which a filter may use. After an error nothing has changed.
func (l *Live) Set(key, value string, seeds *filter.Seeds, hasVia bool) error {
	if key == "fetch" {
		f, err := filter.CompileFetch(value, seeds)
		if err != nil {
			return fmt.Errorf("engine: fetch: %w", err)
		}
		if f.AsksVia() && !hasVia {
			return fmt.Errorf("engine: fetch: %w", filter.ErrViaUnknown)
		}
		l.Fetch.Store(f)
		return nil
	}
	if key == bandwidth.Total || key == bandwidth.PerHost {
		rate, err := options.ParseRate(value)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		return l.Bandwidth.Set(key, rate)
	}
	if key != "host-delay" && key != "ip-delay" {
		return fmt.Errorf("%.80s cannot be changed while the crawl runs; %s can", key, changeable)
	}
	d, err := time.ParseDuration(value)
	if err != nil {
		return fmt.Errorf("%s: %.80q is not a duration such as 4s or 500ms", key, value)
	}
	return l.SetDelay(key, d)
}
