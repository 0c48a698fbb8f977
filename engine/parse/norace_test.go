//go:build !race

package parse

const (
	raceEnabled = false
	soups       = 20_000 // random bodies held against the tokenizer
)
