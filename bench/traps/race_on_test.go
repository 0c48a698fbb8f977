//go:build race

package traps

const underRace = true
