//go:build scenario

package testbed

import "orbweaver/internal/invariants"

// Reduced reports whether tests run in the smaller size: few cases and small webs.
const Reduced = invariants.Race

// Full reports whether the long stories run.
const Full = true
