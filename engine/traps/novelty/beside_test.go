package novelty

import (
	"fmt"
	"strings"
	"testing"
)

// X5: a trap is no evidence against the other parts of its site. A catalogue of three floors, whose pages differ in a
// number alone and are found one by one, is fetched whole beside an endless folder.
func TestX5_aCatalogueBesideATrapIsFetchedWhole(t *testing.T) {
	const floor, items = 400, 1200
	s := newSiteWith("http://shop.test", floor)
	for i := range 500 {
		s.visit(fmt.Sprintf("/news/%d", i), "<p>about "+word(i))
	}
	var prompt []string // pages that are fetched at once, and whose links are not followed yet
	found, skipped := map[string]int{}, 0
	find := func(folder, text string) {
		path := fmt.Sprintf("%s/%d", folder, found[folder])
		found[folder]++
		if s.visit(path, text) {
			prompt = append(prompt, path)
		}
	}
	follow := func(path string) {
		switch n := found["/item"]; {
		case strings.HasPrefix(path, "/maze"):
			for range 40 {
				find("/maze", "<p>about nothing")
			}
		case n < items:
			find("/item", fmt.Sprintf("<p>In stock: %d", n*7919%10_007))
		}
	}
	find("/item", "<p>In stock: 0")
	find("/maze", "<p>about nothing")
	for len(prompt)+len(s.waiting) > 0 {
		if len(prompt) > 0 {
			path := prompt[0]
			prompt = prompt[1:]
			follow(path)
			continue
		}
		isItem := strings.HasPrefix(s.waiting[0].path, "/item/")
		if _, left := s.drain(1, follow); isItem {
			skipped += left
		}
	}
	t.Logf("%v", found)
	if found["/item"] != items || skipped > 0 {
		t.Errorf("%d of %d items are found, %d skipped", found["/item"], items, skipped)
	}
}
