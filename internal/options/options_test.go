package options

import (
	"strings"
	"testing"
	"time"
)

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "512": 512, "512B": 512, "64Ki": 64 << 10, "64KiB": 64 << 10, "2MiB": 2 << 20, "1GB": 1e9, "1.5G": 15e8,
		" 3K ": 3000, "1Ti": 1 << 40, "2T": 2e12,
	} {
		if n, err := ParseSize(text); err != nil || n != want {
			t.Errorf("%q is %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{
		"", "B", "-1", "1X", "1Kii", "Ki", "1 0", "1e30", "NaN", "Inf", "1MK", "9999999T", "1k", "0x10",
	} {
		if n, err := ParseSize(text); err == nil {
			t.Errorf("%q is taken for %d", text, n)
		}
	}
}

func TestParseDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "500ms": 500 * time.Millisecond, "4s": 4 * time.Second, "1h30m": 90 * time.Minute,
		"7d": 168 * time.Hour, "0.5d": 12 * time.Hour,
	} {
		if d, err := ParseDuration(text); err != nil || d != want {
			t.Errorf("%q is %v, %v; want %v", text, d, err, want)
		}
	}
	for _, text := range []string{"", "4", "-1s", "d", "1w", "999999999d", "300000000h", "1d2h", "s"} {
		if d, err := ParseDuration(text); err == nil {
			t.Errorf("%q is taken for %v", text, d)
		}
	}
}

func TestParseCount(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "12": 12, "1_000_000": 1_000_000, "-1": -1} {
		if n, err := ParseCount(text); err != nil || n != want {
			t.Errorf("%q is %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "x", "1.5", "0x10", "1e3", "99999999999999999999"} {
		if n, err := ParseCount(text); err == nil {
			t.Errorf("%q is taken for %d", text, n)
		}
	}
}

// FuzzValues looks for text that the three kinds of numbers accept although it is out of their range.
func FuzzValues(f *testing.F) {
	for _, text := range []string{"0", "4s", "7d", "64MiB", "1.5G", "-1", "1e999", "_", "\xff", "106751d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := ParseDuration(text); err == nil && d < 0 {
			t.Errorf("duration %q: %v", text, d)
		}
		if n, err := ParseSize(text); err == nil && n < 0 {
			t.Errorf("size %q: %d", text, n)
		}
		if n, err := ParseCount(text); err == nil && !strings.ContainsAny(text, "0123456789") {
			t.Errorf("count %q: %d", text, n)
		}
	})
}

type color uint8

type inner struct {
	IPDelay  time.Duration `default:"4s"                 help:"h"     name:"ip-delay"`
	MaxDisk  int64         `default:"1MiB"               least:"64Ki" type:"size"`
	Depth    int           `default:"-1"                 help:"h"     least:"-1"     zero:"meant"`
	Wait     time.Duration `default:"1h"                 help:"h"     zero:"-1"`
	Color    color         `default:"blue"               help:"h"     oneof:"red,blue"`
	Name     string        `default:"x"                  help:"h"     oneof:"x,y"`
	Plain    int
	Internal int `default:"3" most:"5"`
}

type outer struct {
	MaxURLLength int   `help:"h"  most:"9"`
	In           inner `embed:""`
}

func TestNames(t *testing.T) {
	var names []string
	for _, s := range All(new(outer)) {
		names = append(names, s.title())
	}
	got := strings.Join(names, " ")
	if want := "--max-url-length --ip-delay max-disk --depth --wait --color --name internal"; got != want {
		t.Error(got)
	}
}

func TestSetDefaults(t *testing.T) {
	var o outer
	SetDefaults(&o)
	want := inner{4 * time.Second, 1 << 20, 0, time.Hour, 1, "x", 0, 3}
	if o.In != want {
		t.Errorf("%+v", o)
	}
	o.In.IPDelay, o.In.Depth, o.In.Plain = 1, 7, 5
	SetDefaults(&o)
	if o.In.IPDelay != 1 || o.In.Depth != 7 {
		t.Errorf("%+v", o)
	}
	SetAllDefaults(&o)
	want.Depth, want.Plain = -1, 5
	if o.In != want {
		t.Errorf("%+v", o)
	}
}

func TestZeroOfAnOperator(t *testing.T) {
	var o outer
	for _, s := range All(&o) {
		if s.Name == "wait" || s.Name == "depth" {
			if err := Parse(s.Value, s.Tag, "0"); err != nil {
				t.Error(err)
			}
		}
	}
	if o.In.Wait != -1 || o.In.Depth != 0 {
		t.Errorf("%+v", o)
	}
}

func TestCheck(t *testing.T) {
	var o outer
	SetAllDefaults(&o)
	o.In.Wait = -1
	if err := Check(&o); err != nil {
		t.Error(err)
	}
	o.MaxURLLength, o.In.IPDelay, o.In.MaxDisk, o.In.Depth, o.In.Name, o.In.Color = 10, -1, 5, -2, "z", 7
	want := `--max-url-length: 10 is not between 0 and 9
--ip-delay: -1ns is too small; at least 0
max-disk: 5 is too small; at least 64Ki
--depth: -2 is too small; at least -1
--color: "7" is none of red, blue
--name: "z" is none of x, y`
	if err := Check(&o); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
