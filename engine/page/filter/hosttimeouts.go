package filter

import "time"

// HostTimeouts are time limits of the requests to a host; 0 for those of the crawl.
type HostTimeouts struct {
	Connect  time.Duration // a connection, and again its TLS handshake
	Response time.Duration // from the request to the end of the head of the response
	Exchange time.Duration // to the end of the body
	Slow     time.Duration // to the end of a body that is short or slow
}

// of returns the time limit with a key, from termConnect.
func (t *HostTimeouts) of(key int) *time.Duration {
	return [...]*time.Duration{&t.Connect, &t.Response, &t.Exchange, &t.Slow}[key-termConnect]
}

// timeoutNames are the names of the time limits, in the order of their keys.
func timeoutNames() []string {
	return []string{"connect-timeout", "response-timeout", "exchange-timeout", "slow-body-timeout"}
}
