package origin

import (
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
)

// drawnWorld has hosts whose pages a browser must draw.
func drawnWorld(t *testing.T) *Web {
	c := simweb.Plain()
	c.Hosts, c.PagesPerHostMean, c.Drawn, c.Served = 200, 5, 0.5, 0.5
	return testWorld(t, c)
}

// The shares are those of the configuration. No host is beyond a drawn one, and only its script is below its pages.
func TestTools_drawnHostsAreLeaves(t *testing.T) {
	w := drawnWorld(t)
	truth := w.Expected(judge.ExpectOptions{Seeds: w.Seeds(1)})
	drawn, served := 0, 0
	for i := range w.Hosts() {
		h := w.HostAt(i)
		if class := truth.ClassOf(w.Root(i)); class != judge.ClassPage {
			t.Errorf("the root of host %d is %v", i, class)
		}
		root := h.PageAt(0)
		links := h.AppendLinks(nil, simweb.Target{Host: int32(i)}, &root)
		switch {
		case h.IsDrawn:
			drawn++
			if len(links) != 1 || links[0].Target.Kind != simweb.KindBundle {
				t.Errorf("host %d: %v", i, links)
			}
		case h.Tool != simweb.NoTool:
			served++
			if len(links) < 2 || w.NeedsBrowser(simweb.Target{Host: int32(i)}) {
				t.Errorf("host %d: %v", i, links)
			}
		}
	}
	if n := w.DrawnHosts(); drawn != n || n < 60 || n > 110 || served < 35 || served > 75 {
		t.Errorf("%d hosts are drawn, %d by the model; %d others are made by tools", drawn, n, served)
	}
}

// The judge counts what the archive names, and finds no fault in a wrong name.
func TestTools_namesAreJudged(t *testing.T) {
	w := drawnWorld(t)
	s, seeds := newStory(t, w), w.Seeds(1)
	var pages []string
	for url, class := range w.Expected(judge.ExpectOptions{Seeds: seeds}).All() {
		if class == judge.ClassPage {
			pages = append(pages, url)
		}
	}
	s.whole(pages...)
	captures := archiveOf(t, w, pages)
	drawn, others := 0, 0
	for i := range captures {
		c := &captures[i]
		switch at, _ := w.Find(c.URL); {
		case w.NeedsBrowser(at):
			drawn++
			c.IsDrawn = drawn%10 > 0
		case others < 5:
			others++
			c.IsDrawn = true
		}
	}
	v := w.Judge(s.log, judge.Promise{Resumed: true, Expect: judge.ExpectOptions{Seeds: seeds}}, slices.Values(captures))
	named := drawn - drawn/10
	if v.Coverage != 1 || !v.Sound() || *v.Drawn != (judge.Drawn{
		Named: named, Missed: drawn / 10, Wrong: 5,
		Recall: float64(named) / float64(drawn), Precision: float64(named) / float64(named+5),
	}) {
		t.Errorf("%+v, %+v", v, v.Drawn)
	}
	var b strings.Builder
	if v.Print(&b); !strings.Contains(b.String(), "; 5 others, precision 0.") {
		t.Error(b.String())
	}
}
