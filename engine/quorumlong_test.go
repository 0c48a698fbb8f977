//go:build scenario

package engine

import "testing"

// The same with more seeds than make test takes.
func TestQuorum_atNoMomentTwoCirclesFromManySeeds(t *testing.T) { disturbed(t, 24) }
