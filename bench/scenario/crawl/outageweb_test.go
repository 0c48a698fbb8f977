package crawl

import (
	"time"

	"orbweaver/bench/scenario/testbed"
)

// between is a condition of some sites for a time.
func between(c testbed.Condition, from, lasts time.Duration, sites ...int) func(int, time.Duration) testbed.Condition {
	bad := testbed.Lasting(c, from, sites...)
	return func(site int, since time.Duration) testbed.Condition {
		if since >= from+lasts {
			return testbed.Condition{}
		}
		return bad(site, since)
	}
}
