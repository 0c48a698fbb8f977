package crawl

import (
	"reflect"
	"strings"
	"testing"
)

// placeholders adds the placeholders of the flags in a struct.
func placeholders(t reflect.Type, of map[string]string) {
	for i := range t.NumField() {
		field := t.Field(i)
		_, isEmbedded := field.Tag.Lookup("embed")
		if p, ok := field.Tag.Lookup("placeholder"); ok {
			of[flagName(&field)] = p
		} else if (isEmbedded || field.Anonymous) && field.Type.Kind() == reflect.Struct {
			placeholders(field.Type, of)
		}
	}
}

// A flag that names a file, a server or a command reaches beyond the directory, except the name of the operator and
// the directory itself.
func TestReaching_hasEachFlagThatNamesSomethingElsewhere(t *testing.T) {
	of := map[string]string{}
	placeholders(reflect.TypeFor[Command](), of)
	flags, n := reaching(), 0
	for name, placeholder := range of {
		for _, elsewhere := range []string{"FILE", "DIR", "URL", "ADDR", "HOST", "CMD", "CIDR", "PORT"} {
			if !strings.Contains(placeholder, elsewhere) || name == "contact" || name == "dir" || name == "deny-net" ||
				name == "url" {
				continue
			}
			if n++; !hasKey(flags, name) {
				t.Errorf("--%s %s does not count as a setting that reaches beyond the directory", name, placeholder)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d flags were found", n)
	}
}

func hasKey(m map[string]string, key string) bool { _, ok := m[key]; return ok }
