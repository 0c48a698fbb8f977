package options

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Copy returns the address of a copy of a struct of settings, which is given by its address. Parse changes no list in
// place, so the copy and the original may share lists.
func Copy[T any](target T) T {
	original := reflect.ValueOf(target).Elem()
	changed := reflect.New(original.Type())
	changed.Elem().Set(original)
	return changed.Interface().(T) //nolint:forcetypeassert // a pointer to the same type
}

// Find returns the setting with a name in a struct, given by its address; false if there is none.
func Find(target any, name string) (Setting, bool) {
	all := All(target)
	at := slices.IndexFunc(all, func(s Setting) bool { return s.Name == name })
	if at < 0 {
		return Setting{}, false
	}
	return all[at], true
}

// Set sets a setting to what a text says, within its range. After an error it may have a value out of its range.
func (s Setting) Set(text string) error {
	if err := Parse(s.Value, s.Tag, text); err != nil {
		return err
	}
	if s.Value.Kind() == reflect.String && text == "" && s.Tag.Get("default") != "" {
		return fmt.Errorf("it is empty: give a value, such as %s", s.Tag.Get("default"))
	}
	return CheckValue(s.Value, s.Tag, text)
}

// Text returns the value as Set reads it.
func (s Setting) Text() string {
	switch v := s.Value; {
	case v.Kind() == reflect.Slice:
		return strings.Join(s.Strings(), ",")
	case !v.CanInt():
		return format(v, s.Tag)
	case s.Tag.Get("zero") == strconv.FormatInt(v.Int(), 10):
		return "0"
	case v.Type() == reflect.TypeFor[time.Duration]():
		return FormatDuration(time.Duration(v.Int()))
	case s.Tag.Get("type") == "size":
		return sizeText(v.Int())
	case s.Tag.Get("type") == "rate":
		return FormatRate(v.Int())
	default:
		return strconv.FormatInt(v.Int(), 10)
	}
}

// IsList reports whether the setting is a list.
func (s Setting) IsList() bool { return s.Value.Kind() == reflect.Slice }

// Largest returns the text of the largest value that Set accepts for a number.
func (s Setting) Largest() string {
	largest := Setting{s.Name, reflect.New(s.Value.Type()).Elem(), s.Tag}
	most := int64(math.MaxInt64)
	if kind := s.Tag.Get("type"); kind == "size" || kind == "rate" {
		most = sizeMax
	}
	largest.Value.SetInt(bound(s.Value, s.Tag, "most", most))
	return largest.Text()
}

// FormatDuration writes a length of time as ParseDuration reads it.
func FormatDuration(d time.Duration) string {
	const day = 24 * time.Hour
	if d == 0 {
		return "0"
	}
	if d >= 2*day && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// sizeText writes a number of bytes as ParseSize reads it.
func sizeText(n int64) string {
	for i, unit := range []string{"TiB", "GiB", "MiB", "KiB"} {
		if size := int64(1) << (10 * (4 - i)); n >= size && n%size == 0 {
			return strconv.FormatInt(n/size, 10) + unit
		}
	}
	return strconv.FormatInt(n, 10)
}

// parseBool reads yes or no as the command line does.
func parseBool(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "true", "1", "yes":
		return true, nil
	case "false", "0", "no":
		return false, nil
	default:
		return false, fmt.Errorf("%q is neither true nor false", text)
	}
}

// parseList reads the elements of a list, between commas; "" is the empty list.
func parseList(text string) (list []string) {
	for element := range strings.SplitSeq(text, ",") {
		if element = strings.TrimSpace(element); element != "" {
			list = append(list, element)
		}
	}
	return list
}

// Strings returns the elements of a list.
func (s Setting) Strings() []string {
	list := make([]string, s.Value.Len())
	for i := range list {
		list[i] = s.Value.Index(i).String()
	}
	return list
}
