package fetch

import "testing"

func TestCheck_refusesWhatIsNotTheOperators(t *testing.T) {
	for line, ok := range map[string]bool{
		"Accept-Language: de":             true,
		"X-Crawl:1":                       true,
		"DNT : 1":                         true,
		"X-Tab: a\tb":                     true,
		"Accept-Language":                 false,
		"Accept-Language:":                false,
		": value":                         false,
		"Accept Language: de":             false,
		"X-Evil: a\r\nHost: b.example":    false,
		"X-Null: \x00":                    false,
		"Höst: a":                         false,
		"Host: b.example":                 false,
		"hOST: b.example":                 false,
		"Range: bytes=0-1":                false,
		"If-Modified-Since: yesterday":    false,
		"Authorization: Basic c2VjcmV0":   false,
		"Cookie: id=1":                    false,
		"Proxy-Authorization: Basic c2Vj": false,
	} {
		if err := checkHeaderLine(line); (err == nil) != ok {
			t.Errorf("%q: %v", line, err)
		}
	}
}

func TestCut_takesSpaceOffBothParts(t *testing.T) {
	if name, value, found := cutHeaderLine("X-A \t:  one: two "); name != "X-A" || value != "one: two" || !found {
		t.Errorf("%q, %q, %t", name, value, found)
	}
}

// A line that passes has one line's worth of bytes, whatever it was made of.
func FuzzCheck(f *testing.F) {
	f.Add("Accept-Language: de")
	f.Add("X: a\nb: c")
	f.Fuzz(func(t *testing.T, line string) {
		if checkHeaderLine(line) != nil {
			return
		}
		name, value, _ := cutHeaderLine(line)
		for _, text := range []string{name, value} {
			for i := range len(text) {
				if c := text[i]; c == '\r' || c == '\n' || c == 0 {
					t.Errorf("%q has the byte %#x", line, c)
				}
			}
		}
	})
}
