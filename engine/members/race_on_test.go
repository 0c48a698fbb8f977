//go:build race

package members_test

const raceEnabled = true
