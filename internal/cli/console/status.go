package console

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// Status is the status line of a crawl: numbers, then the reason why it is not faster.
type Status struct {
	Numbers []Number // in the order of the line
	Reason  string
}

// Number is a part of a status line. Where there is no room for all, numbers of a low rank are left out first.
type Number struct {
	Text string
	Rank int
}

// ellipsis ends what was cut.
const ellipsis = "..."

// RankNeeded is the rank of the numbers that stay on a narrow terminal: the reason is cut before one of them is left
// out, down to reasonLeast columns.
const (
	RankNeeded  = 3
	reasonLeast = 24
)

// Fit returns the line in at most so many columns. Numbers below RankNeeded are left out first, so that the reason is
// whole. Then the reason is cut. A number is left out or whole.
func (s Status) Fit(columns int) string {
	lowest, highest := 0, -1
	for _, n := range s.Numbers {
		highest = max(highest, n.Rank)
	}
	for ; lowest < highest; lowest++ {
		numbers := s.numbers(lowest)
		least := columnsOf(s.Reason)
		if lowest >= RankNeeded {
			least = min(least, reasonLeast)
		}
		if columnsOf(numbers)+least <= columns {
			return cut(numbers+s.Reason, columns)
		}
	}
	return cut(s.numbers(lowest)+s.Reason, columns)
}

// numbers returns the part of the line before the reason, with the numbers of a rank and above it.
func (s Status) numbers(rank int) string {
	var kept []string
	for _, n := range s.Numbers {
		if n.Rank >= rank {
			kept = append(kept, n.Text)
		}
	}
	line := strings.Join(kept, "  ")
	if line != "" && s.Reason != "" {
		line += " | "
	}
	return line
}

// cut returns text in at most so many columns.
func cut(text string, columns int) string {
	if columnsOf(text) <= columns {
		return text
	}
	var b strings.Builder
	room := columns - len(ellipsis)
	for _, r := range text {
		if room -= runeColumns(r); room < 0 {
			break
		}
		b.WriteRune(r)
	}
	return b.String() + ellipsis[:max(0, min(len(ellipsis), columns))]
}

// columnsOf is how many columns of a terminal a text takes.
func columnsOf(text string) (columns int) {
	for _, r := range text {
		columns += runeColumns(r)
	}
	return columns
}

// runeColumns is 2 for wide characters, such as those of Chinese, and 0 for marks that stand above another character.
func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	default:
		return 1
	}
}
