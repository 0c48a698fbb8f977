package robots

import (
	"strings"
	"testing"
)

func TestTagIsAListForAllOrForOne(t *testing.T) {
	const both = NoFollow | NoIndex
	for value, want := range map[string]Directives{
		"":                             0,
		"nofollow":                     NoFollow,
		"NOFOLLOW":                     NoFollow,
		"noindex, nofollow":            both,
		"noindex,nofollow,noarchive":   both,
		"noindex nofollow":             both, // spaces in place of commas are accepted
		"none":                         both,
		"noindex":                      NoIndex,
		"all, follow, index":           0,
		"nofollows, xnofollow":         0,
		"orbweaver: nofollow":          NoFollow,
		"OrbWeaver:nofollow":           NoFollow,
		"orbweaver/1.0: nofollow":      NoFollow,
		"googlebot: nofollow":          0,
		"googlebot: noindex, nofollow": 0,
		"nofollow, googlebot: noindex": NoFollow,
		"googlebot: nofollow, orbweaver: noindex, nofollow":           both,
		"orbweaverbot: nofollow":                                      0,
		"unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow":       NoFollow,
		"unavailable_after: Sunday, 06-Nov-94 08:49:37 GMT, nofollow": NoFollow,
		"max-snippet: 20, max-image-preview:large, nofollow":          NoFollow,
		"googlebot: max-snippet:20, nofollow":                         0,
		": nofollow":                                                  NoFollow,
		"\tnofollow ,, ":                                              NoFollow,
	} {
		if got := ParseTag([]byte(value), "orbweaver"); got != want {
			t.Errorf("%q: got %d, want %d", value, got, want)
		}
	}
}

func FuzzTag(f *testing.F) {
	f.Add("orbweaver: noindex, nofollow")
	f.Add("unavailable_after: Sunday, 06-Nov-94 08:49:37 GMT, other: none")
	f.Fuzz(func(t *testing.T, value string) {
		d := ParseTag([]byte(value), "orbweaver")
		if d&^(NoFollow|NoIndex) != 0 {
			t.Fatalf("%d", d)
		}
		if folded := strings.ToLower(value); d != 0 && !strings.Contains(folded, "no") {
			t.Fatalf("%q says %d", value, d)
		}
		if got := ParseTag([]byte(value+",nofollow"), ""); !strings.Contains(value, ":") && got&NoFollow == 0 {
			t.Fatalf("%q and nofollow say %d", value, got)
		}
	})
}
