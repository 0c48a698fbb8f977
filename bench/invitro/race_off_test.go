//go:build !race

package invitro

const raceEnabled = false
