package origin

import (
	"fmt"
	"strings"
	"testing"

	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/judge"
)

// hiddenWorld has separate components and pages without a link.
func hiddenWorld(t *testing.T) *Web {
	c := simweb.Plain()
	c.Hosts, c.PagesPerHostMean, c.Separate, c.SeparateHosts = 120, 20, 2, 10
	c.Series, c.Unlinked = 0.5, 0.4
	return testWorld(t, c)
}

// No page links to the page of a folder. Another one, which is linked, is in the folder.
func TestHidden_folders(t *testing.T) {
	c := simweb.Plain()
	c.Hosts, c.PagesPerHostMean, c.Folders, c.Unlinked = 60, 20, 0.5, 0.4
	w := testWorld(t, c)
	folders := 0
	for i := range c.Hosts {
		h := w.HostAt(i)
		for p := range h.Pages {
			if f := h.PageAt(p); !f.IsUnlinked {
				continue
			}
			folders++
			folder := string(w.AppendURL(nil, simweb.Target{Host: int32(i), Page: uint32(p)}))
			inside := string(w.AppendURL(nil, simweb.Target{Host: int32(i), Page: uint32(p + 1)}))
			if !strings.HasSuffix(folder, fmt.Sprintf("/%d/", p)) || !strings.HasPrefix(inside, folder) {
				t.Errorf("%s and %s", folder, inside)
			}
			if at, ok := w.Find(inside); !ok || at.Page != uint32(p+1) || h.PageAt(p+1).IsUnlinked {
				t.Errorf("%s is %+v, %v", inside, at, ok)
			}
		}
	}
	pages := w.Expected(judge.ExpectOptions{Seeds: w.Seeds(10)}).Pages()
	if total := int(w.PagesTotal()); folders < 20 || pages != total-folders {
		t.Errorf("%d pages reached, of %d; %d folders", pages, total, folders)
	}
}

// Only a seed of its own leads to a separate component, and nothing to a page without a link. Its address differs from
// that of a linked page in the number alone.
func TestHidden(t *testing.T) {
	w := hiddenWorld(t)
	seeds := w.Seeds(10)
	if len(seeds) != 12 {
		t.Fatalf("seeds %v", seeds)
	}
	ofSeparate, unlinked := w.HiddenPages()
	all := w.Expected(judge.ExpectOptions{Seeds: seeds}).Pages()
	rest := w.Expected(judge.ExpectOptions{Seeds: seeds[:10]})
	component := w.Expected(judge.ExpectOptions{Seeds: seeds[10:11]})
	unlinkedOfSeparate := 0
	for i := range 120 {
		h := w.HostAt(i)
		isSeparate := i >= 100
		if found := component.ClassOf(w.Root(i)) == judge.ClassPage; found != (i >= 100 && i < 110) {
			t.Errorf("host %d is of the first component: %v", i, found)
		}
		if found := rest.ClassOf(w.Root(i)) == judge.ClassPage; found == isSeparate {
			t.Errorf("host %d is of a separate component: %v", i, !found)
		}
		if isSeparate {
			unlinkedOfSeparate += w.UnlinkedOf(i)
		}
		for p := range h.Pages {
			url := string(w.AppendURL(nil, simweb.Target{Host: int32(i), Page: uint32(p)}))
			if f := h.PageAt(p); f.IsUnlinked && !strings.Contains(url, "/item-") {
				t.Error(url)
			}
		}
	}
	total := int(w.PagesTotal())
	if all != total-unlinked || rest.Pages() != total-ofSeparate-unlinked+unlinkedOfSeparate {
		t.Errorf("%d pages reached, %d without separate ones, of %d; %d of separate ones, %d unlinked", all,
			rest.Pages(), total, ofSeparate, unlinked)
	}
	if share := float64(unlinked) / float64(w.PagesTotal()); share < 0.08 || share > 0.25 {
		t.Errorf("%.2f of the pages are without a link", share)
	}
	// Off by default, and then nothing changes.
	plain := simweb.Plain()
	if ofSeparate, unlinked := testWorld(t, plain).HiddenPages(); ofSeparate+unlinked != 0 {
		t.Error("the plain world has hidden pages")
	}
}

// The judge counts finds and misses apart from all else. On the web without such pages both are faults.
func TestHidden_isJudged(t *testing.T) {
	w := hiddenWorld(t)
	seeds := w.Seeds(10)
	s := newStory(t, w)
	var asked []string
	for url, class := range w.Expected(judge.ExpectOptions{Seeds: seeds}).All() {
		if class == judge.ClassPage {
			asked = append(asked, url)
		}
	}
	hosts := make(map[string]bool)
	ask := func(url string, status int) {
		if site := url[:strings.Index(url[8:], "/")+9]; !hosts[site] {
			hosts[site] = true
			s.ask(site+"robots.txt", 5e9, 404, arrivals.FlagWhole)
		}
		s.ask(url, 5e9, status, arrivals.FlagWhole)
	}
	for _, url := range asked {
		ask(url, 200)
	}
	const finds = 7
	found := 0
	for i := range w.Hosts() {
		h := w.HostAt(i)
		for p := range h.Pages {
			if f := h.PageAt(p); f.IsUnlinked && found < finds {
				found++
				ask(string(w.AppendURL(nil, simweb.Target{Host: int32(i), Page: uint32(p)})), 200)
				ask(fmt.Sprintf("%sitem-no%d.html", w.Root(i), found), 404)
			}
		}
	}
	v := w.Judge(s.log, judge.Promise{Expect: judge.ExpectOptions{Seeds: seeds}}, nil)
	_, unlinked := w.HiddenPages()
	if !v.Sound() || v.UnlinkedFound != finds || v.Unlinked != unlinked || v.MinedHits != finds || v.MinedMisses < 1 ||
		v.RequestsPerFind() != float64(finds+v.MinedMisses)/finds || v.Coverage != 1 {
		t.Errorf("%+v", v)
	}
	var b strings.Builder
	if v.Print(&b); !strings.Contains(b.String(), "pages without a link found, recall 0.0") {
		t.Error(b.String())
	}
}
