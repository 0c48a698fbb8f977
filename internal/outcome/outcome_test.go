package outcome

import "testing"

// A recipe of CONTRIBUTING.md: an outcome is a constant and its row. Each has a name of its own and, except None,
// a class. Numbers that are no outcome have neither.
func TestRecipe_anOutcomeIsOneRow(t *testing.T) {
	names := make(map[string]Outcome)
	for o := range count {
		if before, ok := names[o.String()]; ok || o.String() == "" {
			t.Errorf("outcome %d: the name %q, as outcome %d", o, o, before)
		}
		names[o.String()] = o
		if (o.Class() == ClassNone) != (o == None) {
			t.Errorf("%v has class %d", o, o.Class())
		}
		if o.IsBodyTruncated() && !o.HasResponse() {
			t.Errorf("%v: a body without a response", o)
		}
	}
	if o := count; o.String() != "unknown" || o.Class() != ClassNone || o.HasResponse() || o.IsBodyTruncated() {
		t.Errorf("%d is taken for an outcome: %v", o, o)
	}
}
