package counters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sync/atomic"
)

// eachPair visits each live counter with its place in the plain form. It reads no tags, which every report would pay
// for. Counters of a kind are visited without reflection, since there are hundreds.
func (c *Live) eachPair(t *Totals, visit func(live *atomic.Int64, plain *int64)) {
	eachField(reflect.ValueOf(&c.Set).Elem(), reflect.ValueOf(t).Elem(), visit)
	eachElement(c.Skipped[:], t.Skipped[:], visit)
	eachElement(c.Outcomes[:], t.Outcomes[:], visit)
	eachElement(c.Statuses[:], t.Statuses[:], visit)
	eachElement(c.Types[:], t.Types[:], visit)
	eachElement(c.Depths[:], t.Depths[:], visit)
}

func eachField(live, plain reflect.Value, visit func(live *atomic.Int64, plain *int64)) {
	for i := range plain.NumField() {
		l, p := live.Field(i), plain.Field(i)
		switch p.Kind() {
		case reflect.Int64:
			visit(l.Addr().Interface().(*atomic.Int64), p.Addr().Interface().(*int64))
		case reflect.Struct:
			eachField(l, p, visit)
		}
	}
}

func eachElement(live []atomic.Int64, plain []int64, visit func(live *atomic.Int64, plain *int64)) {
	for i := range live {
		visit(&live[i], &plain[i])
	}
}

// field is one field of a Set: a counter, or an array of them.
type field struct {
	name  string // in the manifest
	tag   reflect.StructTag
	value reflect.Value
}

// fieldsOf lists the fields of a Set, given by its address, those of Reported first.
func fieldsOf(set any) (list []field) {
	var add func(v reflect.Value)
	add = func(v reflect.Value) {
		for i := range v.NumField() {
			f := v.Type().Field(i)
			if f.Anonymous {
				add(v.Field(i))
				continue
			}
			name := f.Tag.Get("saved")
			if name == "" {
				name = f.Name
			}
			list = append(list, field{name, f.Tag, v.Field(i)})
		}
	}
	add(reflect.ValueOf(set).Elem())
	return list
}

// Dropped is the number of URLs that were not admitted, by reason, without those that are 0.
func (t *Totals) Dropped() map[string]int64 {
	dropped := make(map[string]int64)
	for _, f := range fieldsOf(t) {
		if reason := f.tag.Get("dropped"); reason != "" && f.value.Int() > 0 {
			dropped[reason] = f.value.Int()
		}
	}
	return dropped
}

// MarshalJSON writes the counters by their names in the manifest.
func (t Totals) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fieldsOf(&t) {
		value, err := json.Marshal(f.value.Interface())
		if err != nil {
			return nil, fmt.Errorf("counters: %s: %w", f.name, err)
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%q:%s", f.name, value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON has written. Counters that are not there stay as they are.
func (t *Totals) UnmarshalJSON(text []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(text, &values); err != nil {
		return fmt.Errorf("counters: %w", err)
	}
	for _, f := range fieldsOf(t) {
		value, ok := values[f.name]
		if !ok {
			continue
		}
		if err := json.Unmarshal(value, f.value.Addr().Interface()); err != nil {
			return fmt.Errorf("counters: %s: %w", f.name, err)
		}
	}
	return nil
}
