package filter

import (
	"reflect"
	"strings"
	"testing"
)

// A person with a misspelt name is told all names that there are.
func TestKnownNames_areThoseOfTheFacts(t *testing.T) {
	for _, facts := range []any{
		new(scopeFacts), new(fetchFacts), new(followFacts), new(parseFacts), new(storeFacts), new(statFacts),
	} {
		var names []string
		for _, f := range reflect.VisibleFields(reflect.TypeOf(facts).Elem()) {
			if name := f.Tag.Get("expr"); name != "" {
				names = append(names, name)
			}
		}
		if want := strings.Join(names, ", "); knownNames(facts) != want {
			t.Errorf("%T: %s, want %s", facts, knownNames(facts), want)
		}
	}
}
