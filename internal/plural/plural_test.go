package plural

import "testing"

func TestOneThingHasNoPlural(t *testing.T) {
	for want, got := range map[string]string{
		"1 site": Count(1, "site"), "0 sites": Count(0, "site"), "2 sites": Count(2, "site"), "21 sites": Count(21, "site"),
		"3 addresses": Count(uint64(3), "address"), "2 entries": Count(int64(2), "entry"), "1 entry": Count(1, "entry"),
		"4 batches": Count(4, "batch"), "sites": Noun(5, "site"), "has": Verb(1, "has", "have"),
		"have": Verb(0, "has", "have"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
