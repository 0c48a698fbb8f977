package traps

import (
	"fmt"
	"strconv"
	"strings"
)

// Shape is how the pages of a site of similar pages are found.
type Shape string

// The shapes.
const (
	Lists Shape = "lists" // the first page leads to lists of up to 1,000 pages each
	Paged Shape = "paged" // lists of 50, each leads to the next
	Chain Shape = "chain" // each page leads to the next one and to the one before
	Tree  Shape = "tree"  // each page leads to eight others
)

// similar is a site with an end, whose pages resemble each other.
type similar struct {
	shape Shape
	pages int
	query bool // pages differ in a parameter, not in the path
	same  bool // their text is combined of few words; else each has a number of its own in it
}

const (
	similarHost = "similar.test"
	listOf      = 1000
	pagedOf     = 50
)

// Similar is a site of so many similar pages and nothing else. query: pages differ in a parameter. same: no page has a
// word of its own.
func Similar(shape Shape, pages int, query, same bool) Case {
	s := &similar{shape, pages, query, same}
	return Case{
		ID: "SIMILAR", Name: fmt.Sprintf("%d similar pages, %s", pages, shape),
		Seeds:  []string{"http://" + similarHost + "/"},
		Honest: pages, Addr: spread(8), Answer: func(_, target string) Answer { return s.answer(target) },
	}
}

func (s *similar) url(n int) string {
	if s.query {
		return "/view.php?entry=" + strconv.Itoa(n)
	}
	return fmt.Sprintf("/reference/part/entry-%d.html", n)
}

func (s *similar) list(n int) string { return "/contents/" + strconv.Itoa(n) }

func (s *similar) answer(target string) Answer {
	if target == "/" {
		switch s.shape {
		case Lists:
			var links []string
			for n := 0; n*listOf < s.pages; n++ {
				links = append(links, s.list(n))
			}
			return Answer{Body: page("Contents", "All parts", links...)}
		case Paged:
			return Answer{Body: page("Contents", "All parts", s.list(0))}
		default:
			return Answer{Body: page("Contents", "All parts", s.url(0))}
		}
	}
	if rest, ok := strings.CutPrefix(target, "/contents/"); ok {
		return s.contents(rest)
	}
	rest := strings.TrimSuffix(strings.TrimPrefix(target, "/reference/part/entry-"), ".html")
	if s.query {
		rest = strings.TrimPrefix(target, "/view.php?entry=")
	}
	n, err := strconv.Atoi(rest)
	if err != nil || n < 0 || n >= s.pages || s.url(n) != target {
		return Answer{Status: 404}
	}
	return Answer{
		Kind: Honest,
		Body: page(s.text(n), "Returns the lower half of the register, and sets the others to zero.", s.links(n)...),
	}
}

// contents is a list of pages.
func (s *similar) contents(name string) Answer {
	each := listOf
	if s.shape == Paged {
		each = pagedOf
	}
	n, err := strconv.Atoi(name)
	if err != nil || n < 0 || n*each >= s.pages {
		return Answer{Status: 404}
	}
	var links []string
	for k := n * each; k < min((n+1)*each, s.pages); k++ {
		links = append(links, s.url(k))
	}
	if s.shape == Paged {
		links = append(links, s.list(n+1))
	}
	return Answer{Body: page("Contents", "The next part", links...)}
}

func (s *similar) links(n int) (links []string) {
	switch s.shape {
	case Chain:
		for _, k := range []int{n - 1, n + 1} {
			if k >= 0 && k < s.pages {
				links = append(links, s.url(k))
			}
		}
	case Tree:
		for k := n*fan + 1; k <= n*fan+fan && k < s.pages; k++ {
			links = append(links, s.url(k))
		}
	default:
		links = append(links, "/")
	}
	return links
}

// text tells one page from another.
func (s *similar) text(n int) string {
	if !s.same {
		return fmt.Sprintf("Entry %d", n)
	}
	of := func(list string, n int) string { words := strings.Fields(list); return words[n%len(words)] }
	return of(
		"add sub mul div and or xor",
		n,
	) + " " + of(
		"byte word long quad octo half full single double packed mask",
		n/7,
	) + " " +
		of(
			"set load store move cast shift blend pack",
			n/77,
		)
}

// silentPage is a site whose articles ignore the parameter view, beside items in three views that differ, which are
// found later.
func silentPage(l *language, articles int, target string) Answer {
	var n, view int
	if k, _ := fmt.Sscanf(target, "/article/%d?view=%d", &n, &view); k == 2 && n < articles {
		links := []string{fmt.Sprintf("/article/%d?view=%d", n, (view+1)%3)}
		if n+1 < articles {
			links = append(links, fmt.Sprintf("/article/%d?view=%d", n+1, n%3))
		}
		for v := range 3 {
			if n > articles/2 {
				links = append(
					links,
					fmt.Sprintf("/item/%d?view=%d", n-articles/2, v),
					fmt.Sprintf("/item/%d?view=%d", n, v),
				)
			}
		}
		return Answer{Body: page("Article", l.article(uint64(n), 120), links...)}
	}
	if k, _ := fmt.Sscanf(target, "/item/%d?view=%d", &n, &view); k == 2 && n > 0 && n < articles && view < 3 {
		return Answer{Kind: Honest, Body: page("Item", l.article(uint64(n*3+view)<<20, 80))}
	}
	if target == "/" {
		return Answer{Body: page("Home", "welcome", "/article/0?view=0")}
	}
	return Answer{Status: 404}
}
