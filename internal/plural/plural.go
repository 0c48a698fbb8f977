// Package plural writes numbers for messages to people: "1 site", "2 sites", "13,783 URLs", "16 MiB".
//
//	doctor, waiting, explain, progress, ctl, upload -> Count, Noun, Number, Bytes
package plural

import (
	"fmt"
	"strconv"
	"strings"
)

// Count returns a number with its noun. The noun is given for one thing.
func Count[N int | int64 | uint64](n N, noun string) string {
	return Number(n) + " " + Noun(n, noun)
}

// Number returns a number with a comma between groups of three digits.
func Number[N int | int64 | uint64](n N) string {
	digits := strconv.FormatInt(int64(n), 10)
	first := 0 // of the digits
	if n < 0 {
		first = 1
	}
	for at := len(digits) - 3; at > first; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Bytes returns a number of bytes in the units that flags of sizes have: powers of 1,024.
func Bytes(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30))
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	default:
		return fmt.Sprintf("%d B", n)
	}
}

// BytesOf returns how many bytes have come, and of how many; of is 0 if that is not known.
func BytesOf(n, of int64) string {
	if of <= 0 {
		return Bytes(n)
	}
	return Bytes(n) + " of " + Bytes(of)
}

// Noun returns the noun without the number.
func Noun[N int | int64 | uint64](n N, noun string) string {
	switch {
	case n == 1:
		return noun
	case strings.HasSuffix(noun, "s") || strings.HasSuffix(noun, "ch"):
		return noun + "es"
	case strings.HasSuffix(noun, "ry"), strings.HasSuffix(noun, "dy"):
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
