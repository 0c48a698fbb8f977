// Package plural writes a number with its noun, for messages to people: "1 site", "2 sites".
//
//	doctor, waiting, explain, progress, ctl -> Count, Noun
package plural

import (
	"strconv"
	"strings"
)

// Count returns a number with its noun. The noun is given for one thing.
func Count[N int | int64 | uint64](n N, noun string) string {
	return strconv.FormatInt(int64(n), 10) + " " + Noun(n, noun)
}

// Noun returns the noun without the number.
func Noun[N int | int64 | uint64](n N, noun string) string {
	switch {
	case n == 1:
		return noun
	case strings.HasSuffix(noun, "s") || strings.HasSuffix(noun, "ch"):
		return noun + "es"
	case strings.HasSuffix(noun, "ry"):
		return strings.TrimSuffix(noun, "y") + "ies"
	default:
		return noun + "s"
	}
}

// Verb returns the form of a verb behind a number of things: the first for one, the second for others.
func Verb[N int | int64 | uint64](n N, one, others string) string {
	if n == 1 {
		return one
	}
	return others
}
