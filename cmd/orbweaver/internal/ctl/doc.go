// Package ctl holds the commands that talk to a running crawl over its control port.
package ctl
