package cdxj

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// The name of a file stands in a line as JSON has it, whatever it is.
func TestComplete_escapesTheName(t *testing.T) {
	line := []byte(`test,a)/ 20260101000000 {"url":"http://a.test/","offset":"7",`)
	for _, name := range []string{"a.warc.gz", `a"b\c.warc`, "e\x1b[31m\x7f.warc", "größe.warc", "a\xff.warc"} {
		whole := Complete(nil, line, name)
		if l, err := ParseLine(whole); err != nil || string(l.File) != name {
			t.Errorf("%q: file %q of %q, %v", name, l.File, whole, err)
		}
		var all Lines
		all.AddWhole(line)
		var out strings.Builder
		if err := all.WriteSorted(&out, name); err != nil || out.String() != string(whole)+"\n" {
			t.Errorf("%q, want %q, %v", out.String(), whole, err)
		}
	}
}

// Adds lines, short ones and ones longer than a block, and removes some, compared with a list of strings.
func TestLines(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 4))
	var l Lines
	var want []string
	for step := range 5000 {
		if n := len(want); n > 0 && r.IntN(10) == 0 {
			n -= 1 + r.IntN(min(n, 3))
			l.Cut(n)
			want = want[:n]
			continue
		}
		size := 1 + r.IntN(200)
		if r.IntN(500) == 0 {
			size = blockSize + r.IntN(1000)
		}
		entry := strings.Repeat(string(rune('a'+r.IntN(26))), size)
		offset, length := r.Int64(), r.Int64()
		l.Add([]byte(entry), offset, length)
		want = append(want, entry+fmt.Sprintf(`"length":"%d","offset":"%d",`, length, offset))
		if at := r.IntN(len(want)); string(l.line(at)) != want[at] {
			t.Fatalf("step %d: line %d is wrong", step, at)
		}
	}
	// Behind others, and sorted, with the name of the file.
	before := &Lines{}
	before.Add([]byte("first "), 1, 2)
	whole := append([]string{`first "length":"2","offset":"1",`}, want...)
	for i := range whole {
		whole[i] += "\"filename\":\"F\"}\n"
	}
	slices.Sort(whole)
	var out strings.Builder
	if err := before.Join(&l).WriteSorted(&out, "F"); err != nil || out.String() != strings.Join(whole, "") {
		t.Errorf("%d bytes were written, want %d: %v", out.Len(), len(strings.Join(whole, "")), err)
	}
	if least := int64(len(strings.Join(want, ""))); l.Memory() < least || l.Memory() > 2*least+2*blockSize {
		t.Errorf("%d bytes of lines are said to take %d", least, l.Memory())
	}
	l.Cut(0)
	if len(l.lines) != 0 || len(l.blocks) != 1 || len(l.blocks[0]) != 0 {
		t.Error("something is left of what was taken away")
	}
}
