// Package options fills and checks structs of settings by the tags of their fields, so that a setting is declared once:
// its name, help, default and range stand beside it. The command line, the TOML file and the environment bind to the
// same tags through Parse.
//
// Tags: name (else the field's name in kebab case), help, default, least, most, oneof, and zero. zero:"meant" says that
// zero is a setting of its own and is not replaced by the default. zero:"-1" says that a zero given by an operator is
// stored as -1, since zero means the default. The tag words lists words that a shell offers for a value that may be
// anything. The tag basic marks a setting that most people need: --help shows it. A field with the tag embed is a
// struct of further settings.
//
// A number is text of digits, with underscores; bytes have the tag type:"size" (64MiB, 1GB, 4096), and bytes per second
// the tag type:"rate" (10MiB/s); a time.Duration is 500ms, 4s, 1h30m or 7d. A uint8 with oneof holds the place of its
// word in the list. A struct that is an encoding.TextUnmarshaler and a fmt.Stringer reads and writes its own text.
package options

import (
	"encoding"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Tag is what is declared beside a field: a reflect.StructTag, or the tag of a flag.
type Tag interface{ Get(key string) string }

// Setting is one field of a struct of settings.
type Setting struct {
	Name  string // of the flag
	Value reflect.Value
	Tag   Tag
}

// title names a setting as an operator gives it: only settings with help are flags.
func (s Setting) title() string {
	if s.Tag.Get("help") == "" {
		return s.Name
	}
	return "--" + s.Name
}

// All lists the settings in a struct, given by its address, in the order of their declaration. Fields without the tags
// help, default, least and oneof are no settings.
func All(target any) []Setting { return settingsOf(reflect.ValueOf(target).Elem()) }

func settingsOf(v reflect.Value) (list []Setting) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		if !field.IsExported() || field.Tag == "" {
			continue
		}
		if _, ok := field.Tag.Lookup("embed"); ok {
			list = append(list, settingsOf(v.Field(i))...)
			continue
		}
		for _, key := range []string{"help", "default", "least", "oneof"} {
			if _, ok := field.Tag.Lookup(key); ok {
				list = append(list, Setting{nameOf(field), v.Field(i), field.Tag})
				break
			}
		}
	}
	return list
}

// SetDefaults gives every setting of a struct that is zero its default, unless zero is a setting of its own.
func SetDefaults(target any) {
	for _, s := range All(target) {
		text := s.Tag.Get("default")
		if text == "" || !s.Value.IsZero() || s.Tag.Get("zero") == "meant" {
			continue
		}
		if err := Parse(s.Value, s.Tag, text); err != nil {
			panic("BUG: options: the default of " + s.Name + ": " + err.Error())
		}
	}
}

// SetAllDefaults gives every setting of a struct its default.
func SetAllDefaults(target any) {
	for _, s := range All(target) {
		s.Value.SetZero()
		if text := s.Tag.Get("default"); text != "" {
			if err := Parse(s.Value, s.Tag, text); err != nil {
				panic("BUG: options: the default of " + s.Name + ": " + err.Error())
			}
		}
	}
}

// Check reports every setting of a struct that is out of its range.
func Check(target any) error {
	var faults []error
	for _, s := range All(target) {
		if err := CheckValue(s.Value, s.Tag, format(s.Value, s.Tag)); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", s.title(), err))
		}
	}
	return errors.Join(faults...)
}

// CheckValue reports a value that is out of its range: oneof, least and most. Without least, 0 is the least. text is
// the value as the operator wrote it.
func CheckValue(v reflect.Value, tag Tag, text string) error {
	if allowed := tag.Get("oneof"); allowed != "" {
		if words := strings.Split(allowed, ","); !slices.Contains(words, text) {
			return fmt.Errorf("%q is none of %s", text, strings.Join(words, ", "))
		}
		return nil
	}
	if !v.CanInt() || tag.Get("zero") == strconv.FormatInt(v.Int(), 10) {
		return nil
	}
	least, most := bound(v, tag, "least", 0), bound(v, tag, "most", math.MaxInt64)
	if n := v.Int(); n < least || n > most {
		if most == math.MaxInt64 {
			return fmt.Errorf("%s is too small; at least %s", text, wordOr(tag.Get("least"), "0"))
		}
		return fmt.Errorf("%s is not between %s and %s", text, wordOr(tag.Get("least"), "0"), tag.Get("most"))
	}
	return nil
}

func wordOr(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func bound(v reflect.Value, tag Tag, key string, otherwise int64) int64 {
	text := tag.Get(key)
	if text == "" {
		return otherwise
	}
	n, err := number(v.Type(), tag, text)
	if err != nil {
		n, err = strconv.ParseInt(text, 10, 64)
	}
	if err != nil {
		panic("BUG: options: " + key + " " + text)
	}
	return n
}

// Parse sets a value to what a text says. It does not look at the range, except that of a uint8 with oneof, which stays
// as it is if the word is unknown.
func Parse(v reflect.Value, tag Tag, text string) error {
	switch reader, isReader := v.Addr().Interface().(encoding.TextUnmarshaler); {
	case isReader && v.Kind() == reflect.Struct:
		return reader.UnmarshalText([]byte(text))
	case v.Kind() == reflect.Uint8:
		if i := slices.Index(strings.Split(tag.Get("oneof"), ","), text); i >= 0 {
			v.SetUint(uint64(i))
		}
		return nil // CheckValue complains about another word
	case v.Kind() == reflect.String:
		v.SetString(text)
		return nil
	case v.Kind() == reflect.Bool:
		yes, err := parseBool(text)
		v.SetBool(yes)
		return err
	case v.Type() == reflect.TypeFor[[]string]():
		v.Set(reflect.ValueOf(parseList(text)))
		return nil
	case !v.CanInt():
		return fmt.Errorf("BUG: options: a setting of kind %v", v.Kind())
	}
	n, err := number(v.Type(), tag, text)
	if err == nil && v.OverflowInt(n) {
		err = fmt.Errorf("%q is too large", text)
	}
	if err != nil {
		return err
	}
	if stored, serr := strconv.ParseInt(tag.Get("zero"), 10, 64); serr == nil && n == 0 {
		n = stored
	}
	v.SetInt(n)
	return nil
}

func number(t reflect.Type, tag Tag, text string) (int64, error) {
	switch {
	case t == reflect.TypeFor[time.Duration]():
		d, err := ParseDuration(text)
		return int64(d), err
	case tag.Get("type") == "size":
		return ParseSize(text)
	case tag.Get("type") == "rate":
		return ParseRate(text)
	default:
		return ParseCount(text)
	}
}

// format writes a value for an error message.
func format(v reflect.Value, tag Tag) string {
	if words := strings.Split(tag.Get("oneof"), ","); v.Kind() == reflect.Uint8 && int(v.Uint()) < len(words) {
		return words[v.Uint()]
	}
	return fmt.Sprint(v.Interface())
}

// sizeMax is the largest number of bytes that ParseSize reads.
const sizeMax = 1 << 62

// ParseSize reads a number of bytes. Ki, Mi, Gi, Ti are powers of 1024; K, M, G, T powers of 1000.
func ParseSize(text string) (int64, error) {
	t := strings.TrimSuffix(strings.TrimSpace(text), "B")
	digits := strings.TrimRight(t, "KMGTi")
	n, err := strconv.ParseFloat(digits, 64)
	factor, ok := map[string]float64{
		"": 1, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40,
	}[t[len(digits):]]
	if err != nil || !ok || !(n >= 0 && n*factor <= sizeMax) { // NaN too
		return 0, fmt.Errorf("%q is no size such as 64MiB, 1GB or 4096", text)
	}
	return int64(n * factor), nil
}

// ParseRate reads a number of bytes per second: 10MiB/s, 500KB/s, or a size alone.
func ParseRate(text string) (int64, error) {
	n, err := ParseSize(strings.TrimSuffix(strings.TrimSpace(text), "/s"))
	if err != nil {
		return 0, fmt.Errorf("%q is no rate such as 10MiB/s, 500KB/s or 0", text)
	}
	return n, nil
}

// FormatRate returns bytes per second as ParseRate reads it, in the largest unit without a fraction.
func FormatRate(rate int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 30, "GiB"}, {1e9, "GB"}, {1 << 20, "MiB"}, {1e6, "MB"}, {1 << 10, "KiB"}, {1e3, "KB"}} {
		if rate >= unit.bytes && rate%unit.bytes == 0 {
			return fmt.Sprintf("%d%s/s", rate/unit.bytes, unit.name)
		}
	}
	return fmt.Sprintf("%dB/s", rate)
}

// ParseDuration reads a length of time: 500ms, 4s, 1h30m, 7d.
func ParseDuration(text string) (time.Duration, error) {
	t, factor := text, int64(1)
	if days, ok := strings.CutSuffix(t, "d"); ok {
		t, factor = days+"h", 24
	}
	v, err := time.ParseDuration(t)
	if t == "0" {
		v, err = 0, nil
	}
	if err != nil || v < 0 || int64(v) > math.MaxInt64/factor {
		return 0, fmt.Errorf("%q is no duration such as 500ms, 4s, 1h30m or 7d", text)
	}
	return time.Duration(int64(v) * factor), nil
}

// ParseCount reads a whole number, in which underscores have no meaning.
func ParseCount(text string) (int64, error) {
	n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no whole number", text)
	}
	return n, nil
}

// nameOf is the flag of a field, as package kong names it.
func nameOf(f reflect.StructField) string {
	if name := f.Tag.Get("name"); name != "" {
		return name
	}
	var b strings.Builder
	runes := []rune(f.Name)
	isUpper := func(i int) bool { return runes[i] >= 'A' && runes[i] <= 'Z' }
	for i, r := range runes {
		if i > 0 && isUpper(i) && (!isUpper(i-1) || i+1 < len(runes) && !isUpper(i+1)) {
			b.WriteByte('-')
		}
		b.WriteString(strings.ToLower(string(r)))
	}
	return b.String()
}
