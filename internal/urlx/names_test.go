package urlx

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// distinct returns a label of n different letters from a code point on.
func distinct(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteRune(rune(0x4e00 + i))
	}
	return b.String()
}

// A label of 1,360 distinct code points cost 1,360 passes over it: 27 ms of CPU for one link of 4 KB. DNS cannot answer
// such a name.
func TestNamesThatIDNAReadsInQuadraticTimeAreRefused(t *testing.T) {
	for what, name := range map[string]string{
		"one label":                   distinct(1360),
		"in a domain":                 distinct(500) + ".test",
		"many labels":                 strings.Repeat(distinct(63)+".", 20) + "test",
		"full stops beyond ASCII":     strings.Repeat(distinct(63)+"\u3002", 20) + "test",
		"a few, often":                strings.Repeat(distinct(20), 60) + ".test",
		"letters that become 18":      strings.Repeat("\ufdfa", 1000) + distinct(10) + ".test",
		"punycode beside a letter":    "xn--" + strings.Repeat("a", 3900) + ".\u00fc.test",
		"joiners that IDNA refuses":   strings.Repeat("\u200d", 1200) + distinct(60),
		"controls that IDNA refuses":  strings.Repeat("\u0600", 1200) + distinct(60),
		"percent-encoded code points": percent(distinct(455)),
	} {
		if got, err := Normalize(nil, []byte("http://"+name+"/")); err != ErrHost {
			t.Errorf("%s: %d octets of host become %.60q (%v), want %v", what, len(name), got, err, ErrHost)
		}
	}
}

func percent(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		b.WriteString("%" + string("0123456789ABCDEF"[c>>4]) + string("0123456789ABCDEF"[c&15]))
	}
	return b.String()
}

// What DNS can answer passes, and so does what the URL standard's suites accept beyond that: labels of more than 63
// code points with few distinct ones.
func TestNamesThatDNSCanAnswerPassIDNA(t *testing.T) {
	decomposed := strings.Repeat("\u1112\u1161\u11ab", 14) + ".test" // one syllable, three code points
	for _, name := range []string{
		distinct(59) + "." + distinct(59) + "." + distinct(59) + "." + distinct(59),
		decomposed,
		"a" + strings.Repeat("\u00ad", 1500) + "b\u00fc.test",
		"a" + strings.Repeat("\ufe0f", 1000) + distinct(40) + ".test",
		"x01234567890123456789012345678901234567890123456789012345678901\u2020",
		strings.Repeat("s", 96) + "\u015d.\u00df",
		"xn--" + strings.Repeat("a", 112) + ".\u00df",
	} {
		if steps := idnaSteps(name); steps > idnaStepsMax {
			t.Errorf("%.40q: %d steps, the limit is %d", name, steps, idnaStepsMax)
		}
	}
	got, err := Normalize(nil, []byte("http://"+decomposed))
	if want := "http://xn--6q8b" + strings.Repeat("a", 13) + ".test/"; err != nil || string(got) != want {
		t.Errorf("%q becomes %q (%v), want %q", decomposed, got, err, want)
	}
}

// FuzzNameCost checks what a name costs: IDNA takes at most stepsPerOctet steps for each byte of the input. The steps
// are counted as in the algorithm of RFC 3492: one pass over the label for each distinct non-ASCII code point.
func FuzzNameCost(f *testing.F) {
	const stepsPerOctet = 64
	for _, name := range []string{distinct(1360), distinct(63) + "." + distinct(63), strings.Repeat("\ufdfa", 300),
		"\u00fc.xn--a-b", "a\u3002\u00df"} {
		f.Add([]byte(name))
	}
	f.Fuzz(func(t *testing.T, name []byte) {
		if !utf8.Valid(name) || len(name) == 0 || bytes.ContainsAny(name, "/?#\\@:[%\t\r\n ") {
			return
		}
		url, err := Normalize(nil, append([]byte("http://"), name...))
		if err != nil {
			return
		}
		host, err := hostProfile.ToUnicode(string(Host(url)))
		if err != nil {
			return
		}
		steps := 0
		for label := range strings.SplitSeq(host, ".") {
			seen := map[rune]bool{}
			n := 0
			for _, r := range label {
				n++
				if r >= utf8.RuneSelf {
					seen[r] = true
				}
			}
			steps += n * len(seen)
		}
		if limit := stepsPerOctet * len(name); steps > limit {
			t.Errorf("%d octets cost IDNA %d steps, more than %d: %.100q", len(name), steps, limit, name)
		}
	})
}
