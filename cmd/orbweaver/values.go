package main

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"orbweaver/internal/options"
)

// The values of flags keep their mistakes instead of reporting them, so that all can be told at once (see faults).

// size is a number of bytes: 512, 64Ki, 2MiB, 1GB. Ki, Mi, Gi, Ti are powers of 1024; K, M, G, T powers of 1000.
type size struct {
	bytes int64
	text  string
	err   error
}

// UnmarshalText reads a size.
func (s *size) UnmarshalText(b []byte) error {
	s.text = string(b)
	s.bytes, s.err = options.ParseSize(s.text)
	return nil
}

func (s size) String() string { return s.text }

func (s size) fault() error { return s.err }

func (s size) number() int64 { return s.bytes }

// duration is a length of time: 500ms, 4s, 1h30m, 7d.
type duration struct {
	d    time.Duration
	text string
	err  error
}

// UnmarshalText reads a duration.
func (d *duration) UnmarshalText(b []byte) error {
	d.text = string(b)
	d.d, d.err = options.ParseDuration(d.text)
	return nil
}

func (d duration) String() string { return d.text }

func (d duration) fault() error { return d.err }

func (d duration) number() int64 { return int64(d.d) }

// count is a whole number that is not negative, unless its field is tagged least:"-1".
type count struct {
	n    int64
	text string
	err  error
}

// UnmarshalText reads a count.
func (c *count) UnmarshalText(b []byte) error {
	c.text = string(b)
	c.n, c.err = options.ParseCount(c.text)
	return nil
}

func (c count) String() string { return c.text }

func (c count) fault() error { return c.err }

func (c count) number() int64 { return c.n }

// faults collects the mistakes of all values in a command's struct, each with the name of its flag.
func faults(command any) error { return faultsIn(reflect.ValueOf(command).Elem()) }

func faultsIn(v reflect.Value) error {
	var list []error
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if field.Anonymous {
			list = append(list, faultsIn(v.Field(i)))
			continue
		}
		if !field.IsExported() {
			continue
		}
		if err := fault(v.Field(i).Interface(), field.Tag); err != nil {
			list = append(list, fmt.Errorf("--%s: %w", flagName(field), err))
		}
	}
	return errors.Join(list...)
}

// fault is what is wrong with one value, by its own judgement and by the tags of its field: oneof:"a,b", least:"1",
// most:"9". Without least, 0 is the least.
func fault(value any, tag reflect.StructTag) error {
	if allowed := tag.Get("oneof"); allowed != "" && !slices.Contains(strings.Split(allowed, ","), value.(string)) {
		return fmt.Errorf("%q is none of %s", value, strings.ReplaceAll(allowed, ",", ", "))
	}
	if f, ok := value.(interface{ fault() error }); ok && f.fault() != nil {
		return f.fault()
	}
	n, ok := value.(interface{ number() int64 })
	if !ok {
		return nil
	}
	least, most := bound(tag.Get("least"), 0), bound(tag.Get("most"), math.MaxInt64)
	if n.number() < least || n.number() > most {
		if most == math.MaxInt64 {
			return fmt.Errorf("%v is too small; at least %d", value, least)
		}
		return fmt.Errorf("%v is not between %d and %d", value, least, most)
	}
	return nil
}

func bound(tag string, otherwise int64) int64 {
	if n, err := strconv.ParseInt(tag, 10, 64); err == nil {
		return n
	}
	return otherwise
}

// flagName is kong's name for a field.
func flagName(f reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return name
	}
	var b strings.Builder
	runes := []rune(f.Name)
	for i, r := range runes {
		upper := r >= 'A' && r <= 'Z'
		if upper && i > 0 {
			before := runes[i-1]
			lowerBefore := before >= 'a' && before <= 'z'
			lowerAfter := i+1 < len(runes) && runes[i+1] >= 'a' && runes[i+1] <= 'z'
			if lowerBefore || lowerAfter {
				b.WriteByte('-')
			}
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}
