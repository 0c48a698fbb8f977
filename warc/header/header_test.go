package header

import "testing"

func TestParse(t *testing.T) {
	const at = "20080102030405"
	for line, want := range map[string]string{
		"http://a.test/ 192.0.2.1 " + at + " text/html 17":                   "http://a.test/|192.0.2.1|text/html|17",
		"http://a.test/ 192.0.2.1 " + at + " text/html 200 - - 17 x.arc 17":  "http://a.test/|192.0.2.1|text/html|17",
		"http://a.test/x y 192.0.2.1 " + at[:12] + " a/b; q=1 17":            "http://a.test/x%20y|192.0.2.1|a/b; q=1|17",
		"http://a.test/" + at + " b 0.0.0.0 " + at + " - 0":                  "http://a.test/" + at + "%20b|0.0.0.0|-|0",
		"filedesc://x.arc 0.0.0.0 " + at + " text/plain 76":                  "filedesc://x.arc|0.0.0.0|text/plain|76",
		"http://a.test/ 192.0.2.1 20081302030405 text/html 17":               "",
		"http://a.test/ 192.0.2.1 " + at + " text/html -17":                  "",
		"http://a.test/ 192.0.2.1 " + at + " text/html 99999999999999999999": "",
		"http://a.test/ nowhere " + at + " text/html 17":                     "",
		"no address 192.0.2.1 " + at + " text/html 17":                       "",
		"WARC/1.0": "",
		"":         "",
	} {
		got := ""
		if h, ok := ParseARC([]byte(line)); ok {
			got = string(h.URL) + "|" + string(h.IP) + "|" + string(h.MIME) + "|" + string(h.Length)
			if said := h.Time.Format("20060102150405"); said[:12] != at[:12] {
				t.Errorf("%s: %s", line, said)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("http://a.test/ 192.0.2.1 20080102030405 text/html 17"))
	f.Fuzz(func(t *testing.T, line []byte) {
		if h, ok := ParseARC(line); ok && (len(h.URL) == 0 || h.Time.IsZero() && h.Time.Year() < 0 || !isNumber(h.Length)) {
			t.Errorf("%q: %+v", line, h)
		}
	})
}
