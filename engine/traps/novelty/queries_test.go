package novelty

import (
	"fmt"
	"strings"
	"testing"
)

// X6: an application shows each page in endless views, each with its own query, below the same folder. The views are
// skipped; of the pages, which are found among them all the time, none is.
func TestX6_viewsUnderQueriesDoNotSpeakForThePages(t *testing.T) {
	const floor, pages = 200, 1000
	s := newSiteWith("http://cgit.test", floor)
	found, stored, views := 0, 0, 0
	fetch := func(path string, late bool) {
		s.w.NotePage(s.g, []byte(path), s.page("a file of the repository, as it was once", late), &s.words)
	}
	var late []string
	see := func(path string) {
		if s.w.ShouldDelay(s.g, []byte(path)) {
			late = append(late, path)
			return
		}
		if fetch(path, false); !strings.Contains(path, "?") {
			stored++
		}
	}
	left := 0
	for n := 0; len(late) > 0 || n < 300; n++ {
		if found < pages && n%5 == 0 {
			see(fmt.Sprintf("/repo/tree/file-%c%d.go", 'a'+found%26, found))
			found++
		}
		for range 3 {
			if left == 0 { // each fetched view leads to more of them
				see(fmt.Sprintf("/repo/tree/file-%c.go?id=%x", 'a'+n%26, views))
				views++
			}
		}
		if len(late) == 0 {
			continue
		}
		path := late[0]
		late = late[1:]
		_, ok := s.w.ReleaseDelayed(s.g, []byte(path))
		switch isPage := !strings.Contains(path, "?"); {
		case !ok && isPage:
			t.Fatalf("%s is left out, after %d views and %d pages", path, views, stored)
		case !ok:
			left++
		default:
			if fetch(path, true); isPage {
				stored++
			}
		}
	}
	if left == 0 || stored != found {
		t.Errorf("%d of %d pages are stored, %d of %d views left out", stored, found, left, views)
	}
	t.Logf("%d pages stored, %d of %d views left out", stored, left, views)
}
