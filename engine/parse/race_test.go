//go:build race

package parse

const (
	raceEnabled = true
	soups       = 4_000 // random bodies held against the tokenizer: fewer, since all is slower
)
