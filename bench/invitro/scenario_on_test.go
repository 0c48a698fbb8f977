//go:build scenario

package invitro

// thinned says that each test goes through few cases and small webs: so make test runs them, and the race detector. make scenario runs all.
const thinned = raceEnabled
