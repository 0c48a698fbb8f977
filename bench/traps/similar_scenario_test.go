//go:build scenario

package traps

import (
	"fmt"
	"testing"
)

// Of 100,000 similar pages none is lost, however they are found, and though none has a word of its own.
func TestScenarioHundredThousandSimilarPagesAreKept(t *testing.T) {
	for _, shape := range []Shape{Lists, Paged, Chain, Tree} {
		for _, query := range []bool{false, true} {
			for _, same := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s-query=%v-same=%v", shape, query, same), func(t *testing.T) {
					keepsAll(t, Similar(shape, 100_000, query, same))
				})
			}
		}
	}
}

// With the default floor every trap stays below its bound.
func TestScenarioDefaultFloorBoundsEveryTrap(t *testing.T) {
	defer func(before int) { *floor = before }(*floor)
	*floor = 10_000
	for _, id := range []string{"T01", "T02", "T03", "T04", "T05", "T06", "T07", "T09", "T10", "R02"} {
		t.Run(id, func(t *testing.T) { judge(t, id, nil, nil) })
	}
}
