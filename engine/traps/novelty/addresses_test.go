package novelty

import "testing"

// links are the addresses in a page.
type links []string

func (l links) EachAddress(f func(url []byte)) {
	for _, url := range l {
		f([]byte(url))
	}
}

// What stands in an address, and single numbers, are no new text. Words, and many numbers, are.
func TestAddressesAndNumbersAreNotText(t *testing.T) {
	const own = "http://a.test/news?page=7&id=%C3%BCber%2520uns"
	others := links{"http://next.test/style/qwert.css", "http://a.test/news?page=0900"}
	for text, isNew := range map[string]bool{
		"Page 7, and 8, 6, 0007, 7,000":                                           false, // numbers
		"12 March 2031, 2031-03-12T10:00:00Z":                                     false, // of a date, whose month is known
		"Request 9f86d081 of session x1y2z3":                                      false, // ids
		"@import url(/style/qwert.css)":                                           false, // a link
		"http://next.test/ leads on, 900 901 902":                                 false,
		"page news id ÜBER uns":                                                   false, // the page's own address, decoded
		"qwert next uns qwert page style next qwert":                              false, // pairs of such words
		"Page 7: flood in the valley":                                             true,
		"11111 22222 33333 44444 55555 66666 77777 88888":                         true,
		"11111 11112 11113 11114 11115 11116 11117 11118 11119 11120 11121 11122": false, // counts on
	} {
		var w Words
		s := sketch{blocks: 64}
		w.Read([]byte("page and march request of session import url leads on http a test t00 über x y z z"))
		s.addAll(1, &w)
		w.Read([]byte(text))
		s.addAll(1, &w)
		if got := w.isNew(1, []byte(own), others); got != isNew {
			t.Errorf("%s: new is %v; words %d, pairs %d, figures %d", text, got, len(w.fresh.single), len(w.fresh.pairs),
				len(w.fresh.figures))
		}
	}
}

// URLs with a parameter that does not change the page are no evidence about the pages: only copies are skipped.
func TestX6_copiesDoNotSpeakForThePages(t *testing.T) {
	s := newSite("http://shop.test")
	const text = "this is a page of the shop, and nothing else"
	for n := range 400 {
		s.visit("/p/"+word(n%40)+"?SID="+word(n), text)
	}
	_, left := s.drain(20_000, func(path string) { s.visit(path+"x", text) })
	if left == 0 {
		t.Error("no copy is skipped")
	}
	if why, ok := s.w.ReleaseDelayed(s.g, []byte("/p/other")); !ok {
		t.Errorf("a page is skipped as its copies are: %+v", why)
	}
}

// Redirects and failures behind a delayed URL count as requests of its part.
func TestX2_redirectsBehindDelayedURLsCount(t *testing.T) {
	s := newSiteWith("http://trap.test", 400)
	requests := 0
	for n := range 100_000 {
		path := []byte("/b/" + word(n))
		late := s.w.ShouldDelay(s.g, path)
		if late {
			if _, ok := s.w.ReleaseDelayed(s.g, path); !ok {
				break
			}
		}
		s.w.NotePage(s.g, path, s.page("nothing happens here today", late), &s.words)
		for range 3 {
			s.w.NoteNoPage(s.g, []byte("/a/"+word(n)), uint32(n), false)
		}
		requests += 4
	}
	if requests > foundPerFloor*400+4*(watchAfterPages+evidencePages+creditInitial) {
		t.Errorf("%d requests", requests)
	}
}
