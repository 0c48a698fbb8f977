package crawl

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"orbweaver/engine/operate/changes"
)

// flagsOf adds the names of the flags in a struct.
func flagsOf(t reflect.Type, names map[string]bool) {
	for i := range t.NumField() {
		field := t.Field(i)
		_, isEmbedded := field.Tag.Lookup("embed")
		if _, isFlag := field.Tag.Lookup("help"); isFlag && field.Tag.Get("kong") != "-" {
			if _, isArgument := field.Tag.Lookup("arg"); !isArgument {
				names[flagName(&field)] = true
			}
		} else if (isEmbedded || field.Anonymous) && field.Type.Kind() == reflect.Struct {
			flagsOf(field.Type, names)
		}
	}
}

// flagName is the name of a flag: that of its field in lower case, with hyphens, unless it has a name of its own.
func flagName(field *reflect.StructField) string {
	if name := field.Tag.Get("name"); name != "" {
		return name
	}
	var name strings.Builder
	isUpper := true
	for i, r := range field.Name {
		was := isUpper
		if isUpper = r >= 'A' && r <= 'Z'; isUpper && !was && i > 0 {
			name.WriteByte('-')
		}
		name.WriteString(strings.ToLower(string(r)))
	}
	return name.String()
}

// A recipe of CONTRIBUTING.md, on all flags of the crawl: each can be changed while the crawl runs, or there is a
// reason why not, and testdata/settings.txt says so.
func TestRecipe_eachFlagIsLiveOrHasAReason(t *testing.T) {
	flags := map[string]bool{"config": true}
	flagsOf(reflect.TypeFor[Command](), flags)
	if len(flags) < 90 {
		t.Fatalf("only %d flags are found: %v", len(flags), flags)
	}
	live := append(changes.Changeable(), "log-level")
	fixed, reasons := changes.Fixed()
	var lines []string
	for name := range flags {
		isLive, reason := slices.Contains(live, name), reasons[name]
		switch {
		case isLive && reason != "", !isLive && reason == "":
			t.Errorf("--%s: can be changed: %v, reason why not: %q", name, isLive, reason)
		case isLive:
			lines = append(lines, name+": live")
		default:
			lines = append(lines, name+": at the start only: "+reason)
		}
	}
	for _, name := range append(fixed, live...) {
		if !flags[name] {
			t.Errorf("there is no flag --%s", name)
		}
	}
	slices.Sort(lines)
	golden, err := os.ReadFile("testdata/settings.txt")
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.Join(lines, "\n") + "\n"; string(golden) != want {
		t.Errorf("testdata/settings.txt must be:\n%s", want)
	}
}
