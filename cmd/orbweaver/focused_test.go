package main

import (
	"testing"

	"orbweaver/internal/cli/command"
)

// The order and its expression belong together, and a wrong one is refused before there is a directory.
func TestCrawl_refusesScoresWithoutTheirOrder(t *testing.T) {
	for _, c := range []struct {
		says string
		args []string
	}{
		{"focused needs a score", []string{"--visit", "focused"}},
		{"is for --visit focused", []string{"--score", "depth"}},
		{"is for --visit focused", []string{"--visit", "bottom-up", "--score", "depth"}},
		{"does not always yield a number", []string{"--visit", "focused", "--score", "anchor"}},
		{"via_title, via_count", []string{"--visit", "focused", "--score", "size > 3"}},
	} {
		call(nearby(t.TempDir(), append(c.args, "http://127.0.0.1:1/")...)...).want(t, command.ExitUsage, c.says)
	}
}
