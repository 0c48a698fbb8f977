package golden

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"
)

// Fill sets each exported field below v, a pointer, to a value other than zero: the same each time. Lists and maps get
// one element.
func Fill(v any) { fill(reflect.ValueOf(v).Elem(), new(int64)) }

func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(*n%99 + 1)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n%99 + 1))
	case reflect.Float32, reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", *n))
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, n)
		if key.Kind() == reflect.String {
			key.SetString("key") // a name in JSON does not depend on the fields before
		}
		fill(value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if _, ok := v.Interface().(time.Time); ok {
			v.Set(reflect.ValueOf(time.Date(2026, 2, 3, 4, 5, int(*n%60), 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), n)
			}
		}
	default:
		panic("BUG: golden: no value for a " + v.Type().String())
	}
}

// Names returns the names of all values of a JSON text, with their types, sorted: "outcomes.ok number". Elements of
// lists have the name "[]".
func Names(t testing.TB, text []byte) (names []string) {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	var visit func(name string, v any)
	visit = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for key, value := range v {
				visit(name+"."+key, value)
			}
		case []any:
			for _, value := range v {
				visit(name+".[]", value)
			}
		case string:
			names = append(names, name+" string")
		case float64:
			names = append(names, name+" number")
		case bool:
			names = append(names, name+" bool")
		default:
			names = append(names, name+" null")
		}
	}
	visit("", v)
	slices.Sort(names)
	return slices.Compact(names)
}

// Contains checks that each of the wanted names is among those that there are: a version may add some, and takes none
// away.
func Contains(t testing.TB, got, want []string) {
	t.Helper()
	for _, name := range want {
		if !slices.Contains(got, name) {
			t.Errorf("%s was there, and is not any more", name)
		}
	}
}
