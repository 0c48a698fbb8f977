package golden

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
)

// SameValues checks that a JSON text has all values of another one. It may have more, also at the end of a list.
func SameValues(t *testing.T, got, want []byte) {
	t.Helper()
	var a, b any
	for text, to := range map[*any][]byte{&a: got, &b: want} {
		d := json.NewDecoder(bytes.NewReader(to))
		d.UseNumber()
		if err := d.Decode(text); err != nil {
			t.Fatal(err)
		}
	}
	var visit func(name string, a, b any)
	visit = func(name string, a, b any) {
		in, ok := a.(map[string]any)
		if of, is := b.(map[string]any); is && ok {
			for key, value := range of {
				visit(name+"."+key, in[key], value)
			}
			return
		}
		if listed, is := b.([]any); is {
			if now, ok := a.([]any); ok && len(now) >= len(listed) {
				for i := range listed {
					visit(fmt.Sprint(name, ".", i), now[i], listed[i])
				}
				return
			}
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s is %v, and was %v", name, a, b)
		}
	}
	visit("", a, b)
}
