//go:build race

package invitro

const raceEnabled = true
