package novelty

import (
	"fmt"
	"strings"
	"testing"
)

// Whatever the paths, texts and states are, the memory is bounded by their size and by constants.
func FuzzWeigh(f *testing.F) {
	f.Add("/a/b?c=d;e&&=;x", "<p>text<img src='x'><script>a</script><!-- x -->", uint8(3))
	f.Add(";;;?&=", "<img src=<style", uint8(200))
	f.Add("/shop/cart/shop/cart/shop/cart/shop/?a=1&a=2&a=3&a", "your cart has nothing in it", uint8(150))
	f.Add("/"+strings.Repeat("x/", 200)+"?"+strings.Repeat("y&", 200), strings.Repeat("<img>1,234 ", 300), uint8(90))
	f.Fuzz(func(t *testing.T, path, text string, times uint8) {
		const memory = 1 << 18
		w := NewDetector(Options{MemoryBytes: memory, Seed: 3, Floor: 40})
		g := w.GroupOf('s', []byte("http://a.test"))
		var words Words
		for i := range int(times) {
			p := []byte(fmt.Sprint(path, i%3))
			w.ShouldDelay(g, p)
			_, _ = w.ReleaseDelayed(g, p)
			w.NotePage(g, p, Page{Text: []byte(text), Payload: uint32(i % 4), IsDuplicate: i%5 == 4,
				WasDelayed: i%2 == 0}, &words)
			w.IrrelevantParams(g)
			w.JoinMember(g, i%2 == 0)
		}
		if words.Read([]byte(text)); len(words.single) > min(len(text), wordsMax+textMax/2) ||
			len(words.pairs) > len(words.single) {
			t.Errorf("%d words and %d pairs of %d bytes", len(words.single), len(words.pairs), len(text))
		}
		if s := w.Stats(); s.Bytes > 2*memory || s.Groups > 1 {
			t.Errorf("%+v", s)
		}
		again := NewDetector(Options{})
		if err := again.Load(w.AppendState(nil)); err != nil {
			t.Error(err)
		}
		loaded := NewDetector(Options{MemoryBytes: memory})
		err := loaded.Load([]byte(text)) // any bytes
		if s := loaded.Stats(); err == nil && s.Bytes > int64(len(text))*(groupSize+entrySize) {
			t.Errorf("%d bytes of memory from a state of %d", s.Bytes, len(text))
		}
	})
}

// repeatsParts, which is called for each delayed URL, must agree with a plain count.
func FuzzNests(f *testing.F) {
	f.Add("/shop/cart/shop/cart/shop/cart/shop")
	f.Add("/a?x=1&y=2&x=3&x=4&x")
	f.Add("/2024/05/05/05?05=1")
	f.Fuzz(func(t *testing.T, path string) {
		before, query, _ := strings.Cut(path, "?")
		folders, names, most, different := map[string]int{}, map[string]int{}, 0, 0
		for folder := range strings.SplitSeq(before, "/") {
			if folder != "" {
				folders[folder]++
				most = max(most, folders[folder])
			}
		}
		for one := range strings.SplitSeq(query, "&") {
			if name, _, _ := strings.Cut(one, "="); name != "" {
				names[name]++
				most = max(most, names[name])
			}
		}
		different = len(folders) + len(names)
		if got := repeatsParts(1, []byte(path)); got != (most >= nestedTimes) && different <= nestedParts {
			t.Errorf("%q: %v, the same part %d times", path, got, most)
		}
	})
}
