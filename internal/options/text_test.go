package options

import (
	"testing"
	"time"
)

// The text of a value is read back as the same value, also at the ends of the units.
func TestSetting_textIsReadBack(t *testing.T) {
	var o struct {
		Wait  time.Duration `default:"1h"  help:"h" zero:"-1"`
		Size  int64         `default:"0"   help:"h" type:"size"`
		Limit time.Duration `default:"0"   help:"h"`
		Rate  int64         `default:"0"   help:"h" type:"rate" zero:"0"`
		Count int           `default:"7"   help:"h"`
		Color color         `default:"red" help:"h" oneof:"red,blue"`
		Name  string        `default:"all" help:"h"`
		Yes   bool          `help:"h"`
		List  []string      `help:"h"`
	}
	for name, texts := range map[string][]string{
		"wait": {
			"0", "1ns", "500ms", "4s", "1m", "90s=1m30s", "1h", "1h30m", "1h0m30s", "10h", "24h", "36h", "2d", "7d",
			"48h=2d", "100m=1h40m", "1d=24h",
		},
		"limit": {"0", "0s=0", "1s"},
		"size":  {"0", "1", "1023", "1KiB", "1536=1536", "64MiB", "1025KiB", "1GiB", "2TiB", "1GB=1000000000"},
		"rate":  {"0", "1KiB/s", "10MiB/s", "1000/s=1KB/s", "1025/s=1025B/s"},
		"count": {"0", "12", "1_000=1000"}, "color": {"red", "blue"}, "name": {"a b", "all"},
		"yes": {"true", "false", "no=false", "1=true"}, "list": {"", "jpg", "jpg,png", " jpg, png =jpg,png"},
	} {
		s, ok := Find(&o, name)
		if !ok {
			t.Fatalf("there is no %s", name)
		}
		for _, text := range texts {
			given, want := text, text
			for i := range text {
				if text[i] == '=' {
					given, want = text[:i], text[i+1:]
				}
			}
			if err := s.Set(given); err != nil || s.Text() != want {
				t.Errorf("%s: %q is %q, %v; want %q", name, given, s.Text(), err, want)
			}
			if err := s.Set(s.Text()); err != nil || s.Text() != want {
				t.Errorf("%s: %q is read back as %q, %v", name, want, s.Text(), err)
			}
		}
	}
	for name, text := range map[string]string{"wait": "soon", "color": "green", "name": "", "yes": "maybe"} {
		if s, _ := Find(&o, name); s.Set(text) == nil {
			t.Errorf("%s: %q is taken", name, text)
		}
	}
}

// A change of a copy does not change the original.
func TestCopy(t *testing.T) {
	type settings struct {
		List []string `help:"h"`
	}
	original := &settings{List: []string{"a", "b"}}
	changed := Copy(original)
	s, _ := Find(changed, "list")
	if err := s.Set("c,d"); err != nil || original.List[0] != "a" || changed.List[1] != "d" {
		t.Errorf("%v, %v, %v", original, changed, err)
	}
}
