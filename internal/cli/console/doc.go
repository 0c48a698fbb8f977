// Package console writes what a crawl says to standard error: log lines, and a status line that is the last line of the
// terminal. One goroutine owns the terminal. It takes the status line away, writes log lines, and draws the status line
// again, so the two never collide. The status line is fitted to the width that the terminal has at that moment.
//
// Code that writes a message never waits: the text waits here, up to a limit.
package console
