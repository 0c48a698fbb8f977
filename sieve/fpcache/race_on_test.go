//go:build race

package fpcache

const raceEnabled = true
