// Package control lets an operator talk to a running crawl over HTTP, on a Unix socket in the crawl directory or on an
// address: status, pause, resume, stop, add, block, set, and metrics for Prometheus.
//
// It is not an interface for the world: the socket is readable by its owner only, and an address should be loopback;
// requests that carry an Origin are refused, so that no web page can reach it.
//
//	GET  /status    report.json as it would be written now
//	GET  /metrics   Prometheus text format
//	GET  /healthz   200 while the process lives
//	POST /pause /resume /stop
//	POST /add       body: one URL a line
//	POST /block     body: one host rule a line
//	POST /set       body: key=value
//
// A Server owns its goroutines and joins them in Close.
package control
