//go:build race

package sieve

const raceEnabled = true
