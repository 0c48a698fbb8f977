// Package lifecycle names the states of a crawl as report.json and the progress line show them.
package lifecycle
