//go:build scenario

package consensus

import "testing"

// The same with more seeds than make test takes.
func TestCS1_noThingHasTwoUsersFromManySeeds(t *testing.T) { disturbed(t, 60) }
