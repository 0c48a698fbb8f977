package main

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"orbweaver/internal/options"
)

func TestSizes(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "512": 512, "512B": 512, "64Ki": 64 << 10, "64KiB": 64 << 10, "2MiB": 2 << 20, "1GB": 1e9, "1.5G": 15e8,
		" 3K ": 3000, "1Ti": 1 << 40, "2T": 2e12,
	} {
		if n, err := options.ParseSize(text); err != nil || n != want {
			t.Errorf("%q is %d, %v; want %d", text, n, err, want)
		}
	}
	for _, text := range []string{"", "B", "-1", "1X", "1Kii", "Ki", "1 0", "1e30", "NaN", "Inf", "1MK", "9999999T", "1k", "0x10"} {
		if n, err := options.ParseSize(text); err == nil {
			t.Errorf("%q is taken for %d", text, n)
		}
	}
}

func TestDurations(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "500ms": 500 * time.Millisecond, "4s": 4 * time.Second, "1h30m": 90 * time.Minute, "7d": 168 * time.Hour, "0.5d": 12 * time.Hour,
	} {
		var d duration
		if err := d.UnmarshalText([]byte(text)); err != nil || d.err != nil || d.d != want || d.String() != text {
			t.Errorf("%q is %v, %v; want %v", text, d.d, d.err, want)
		}
	}
	for _, text := range []string{"", "4", "-1s", "d", "1w", "999999999d", "300000000h", "1d2h", "s"} {
		var d duration
		if err := d.UnmarshalText([]byte(text)); err != nil || d.err == nil {
			t.Errorf("%q is taken for %v", text, d.d)
		}
	}
}

func TestCounts(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "12": 12, "1_000_000": 1_000_000, "-1": -1} {
		var c count
		if err := c.UnmarshalText([]byte(text)); err != nil || c.err != nil || c.n != want {
			t.Errorf("%q is %d, %v; want %d", text, c.n, c.err, want)
		}
	}
	for _, text := range []string{"", "x", "1.5", "0x10", "1e3", "99999999999999999999"} {
		var c count
		if err := c.UnmarshalText([]byte(text)); err != nil || c.err == nil {
			t.Errorf("%q is taken for %d", text, c.n)
		}
	}
}

// FuzzValues looks for text that the three kinds of values take although it is out of their range.
func FuzzValues(f *testing.F) {
	for _, text := range []string{"0", "4s", "7d", "64MiB", "1.5G", "-1", "1e999", "_", "\xff", "106751d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var d duration
		if err := d.UnmarshalText([]byte(text)); err != nil || d.err == nil && d.d < 0 {
			t.Errorf("duration %q: %v, %v", text, d.d, err)
		}
		if n, err := options.ParseSize(text); err == nil && n < 0 {
			t.Errorf("size %q: %d", text, n)
		}
		var c count
		if err := c.UnmarshalText([]byte(text)); err != nil || c.err == nil && !strings.ContainsAny(text, "0123456789") {
			t.Errorf("count %q: %d, %v", text, c.n, err)
		}
	})
}

func TestFaultsNamesFlagsAndBounds(t *testing.T) {
	var c struct {
		MaxDisk  size
		IPDelay  duration `name:"ip-delay"`
		Fetchers count    `least:"1"`
		Level    count    `least:"1" most:"9"`
		Depth    count    `least:"-1"`
		Mode     string   `oneof:"a,b"`
		hidden   count
	}
	c.hidden.n = -5
	c.Level.n, c.Fetchers.n, c.Depth.n, c.Mode = 9, 1, -1, "b"
	if err := faults(&c); err != nil {
		t.Error(err)
	}
	_ = c.MaxDisk.UnmarshalText([]byte("x"))
	_ = c.IPDelay.UnmarshalText([]byte("x"))
	_ = c.Fetchers.UnmarshalText([]byte("0"))
	_ = c.Level.UnmarshalText([]byte("10"))
	_ = c.Depth.UnmarshalText([]byte("-2"))
	c.Mode = "c"
	want := `--max-disk: "x" is no size such as 64MiB, 1GB or 4096
--ip-delay: "x" is no duration such as 500ms, 4s, 1h30m or 7d
--fetchers: 0 is too small; at least 1
--level: 10 is not between 1 and 9
--depth: -2 is too small; at least -1
--mode: "c" is none of a, b`
	if err := faults(&c); err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}

// TestFlagNames compares with kong's own names.
func TestFlagNames(t *testing.T) {
	parser, err := kong.New(new(cli))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	var walk func(n *kong.Node)
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			names[f.Name] = true
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(parser.Model.Node)
	for _, command := range []any{crawlCmd{}, demoCmd{}, simCmd{}, benchVitroCmd{}, ctlCmd{}, warcCatCmd{}} {
		v := reflect.TypeOf(command)
		for i := range v.NumField() {
			f := v.Field(i)
			_, arg := f.Tag.Lookup("arg")
			_, help := f.Tag.Lookup("help")
			_, cmd := f.Tag.Lookup("cmd")
			if help && !arg && !cmd && !names[flagName(f)] {
				t.Errorf("%v.%s is no flag --%s", v, f.Name, flagName(f))
			}
		}
	}
}
