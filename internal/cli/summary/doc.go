// Package summary writes the report of a crawl for people: a progress line while it runs, some lines at its end.
package summary
