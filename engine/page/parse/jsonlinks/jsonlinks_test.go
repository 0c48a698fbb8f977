package jsonlinks

import (
	"fmt"
	"strings"
	"testing"

	"orbweaver/internal/cputime"
	"orbweaver/internal/invariants"
)

func all(b []byte, format Format) string {
	var out []string
	Read(b, format, func(kind Kind, text []byte) { out = append(out, fmt.Sprintf("%d:%s", kind, text)) })
	return strings.Join(out, " ")
}

// A member of the wrong type takes no other one along, and of a file that is cut, what is whole counts.
func TestFaultyFilesGiveWhatTheyHave(t *testing.T) {
	for _, c := range []struct{ body, want string }{
		{`{"start_url":7,"icons":[{"src":"a"},{"src":[1]},3,{"src":"b"}],"screenshots":{"src":"c"}}`, "1:a 1:b"},
		{` {"version":"https://jsonfeed.org/version/1","items":[{"url":"a","image":1},{"url":"b"},{"url":"c`, "0:a 0:b"},
		{`{"version":"https://jsonfeed.org/version/1","x":{"y":[1,{}]},"icon":"i","items":7,"feed_url":"f"}`, "1:i"},
		{`[{"src":"a"}]`, ""}, {`{"src":"a"}`, ""}, {"", ""},
	} {
		if got := all([]byte(c.body), FormatOf([]byte(c.body), strings.Contains(c.body, "icons"))); got != c.want {
			t.Errorf("%s: %q, want %q", c.body, got, c.want)
		}
	}
}

// Of each shape, a file of 512 KiB takes eight times as long as one of 64 KiB. The test allows 24 times.
func TestHostile_P12_hostileJSONTakesLinearTime(t *testing.T) {
	for _, shape := range []string{"{", "[", `{"a":`, `{},`, `{"attachments":[`, `"x",`, `"a":{},`, " ", `\u0041`} {
		for _, lead := range []string{`"items":[`, "", `"items":[{"attachments":[`} {
			lead = `{"jsonfeed.org":0,` + lead
			read := func(size int) func() {
				body := []byte(lead + strings.Repeat(shape, size/len(shape)))
				return func() { Read(body, Feed, func(Kind, []byte) {}) }
			}
			if invariants.Race { // the race detector distorts times
				read(16 << 10)()
				continue
			}
			if grows := cputime.Growth(10, 24, read(512<<10), read(64<<10)); grows > 24 {
				t.Errorf("%q after %q: 512 KiB cost %.1f times as much as 64 KiB", shape, lead, grows)
			}
		}
	}
}

// FuzzRead: no bytes cause a panic, and what is found is not longer than the file.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"start_url":"a","icons":[{"src":"b"}],"shortcuts":[{"url":"c","icons":[{"src":"d"}]}]}`))
	f.Add([]byte(`{"version":"https://jsonfeed.org/version/1","items":[{"url":"a","content_html":"<p>"}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, format := range []Format{FormatOf(b, true), Manifest, Feed} {
			size := 0
			Read(b, format, func(_ Kind, text []byte) { size += len(text) })
			if size > 3*len(b) { // an invalid byte becomes three
				t.Fatalf("%d bytes of %d", size, len(b))
			}
		}
	})
}
