package traps

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// Size is how large the honest parts are, and the traps that have an end.
type Size struct {
	Honest int // pages beside each trap
	Farm   int // domains of a farm of links, hosts of a farm of redirects
}

// Cases are all of them, in order. Seed makes another web of the same kinds.
func Cases(seed uint64, size Size) []Case {
	l := newLanguage(seed, 60)
	return []Case{
		calendar(l, size), sessions(l, size), growing(l, size), facets(l, size), subdomains(l, size), tarpit(l, size),
		everything(l, size), farm(l, size), mirrors(l, size), victim(l, size), chain(l, size), Large(l, size.Honest),
	}
}

// one is a case whose honest part is one site; trap answers for the rest of it.
func one(id, name string, h *honest, trap func(target string) Answer) Case {
	host := strings.ToLower(id) + ".test"
	return Case{
		ID: id, Name: name, Seeds: []string{"http://" + host + "/"}, Honest: h.pages + 1, Addr: spread(8),
		Answer: func(_, target string) Answer {
			if a, ok := h.answer(target); ok {
				return a
			}
			return trap(target)
		},
	}
}

// calendar is a year of months of days, and then the next year (T01).
func calendar(l *language, size Size) Case {
	h := newHonest(l, size.Honest, func(int) []string { return []string{"/calendar/2026/11"} })
	return one("T01", "calendar", h, func(target string) Answer {
		var y, m, d int
		n, _ := fmt.Sscanf(target, "/calendar/%d/%d/%d", &y, &m, &d)
		if n < 2 {
			return Answer{Status: 404}
		}
		at := time.Date(y, time.Month(m), max(d, 1), 0, 0, 0, 0, time.UTC)
		month := func(t time.Time) string { return t.Format("/calendar/2006/01") }
		if n == 3 {
			return Answer{Kind: Trap, Body: page(at.Format("2 January 2006"), "No events on this day.", month(at))}
		}
		links := []string{month(at.AddDate(0, -1, 0)), month(at.AddDate(0, 1, 0))}
		for i := range 28 {
			links = append(links, at.AddDate(0, 0, i).Format("/calendar/2006/01/02"))
		}
		text := "Mo Tu We Th Fr Sa Su 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28"
		return Answer{Kind: Trap, Body: page(at.Format("January 2006"), text, links...)}
	})
}

// sessions gives every visitor a name of his own in every link (T02).
func sessions(l *language, size Size) Case {
	h := newHonest(l, size.Honest, nil)
	sid := 0 // guarded by the caller: one request at a time
	c := one("T02", "session ids", h, nil)
	c.Answer = func(_, target string) Answer {
		path, _, _ := strings.Cut(target, "?")
		path, _, _ = strings.Cut(path, ";")
		a, ok := h.answer(path)
		if !ok {
			return a
		}
		a.Of = path
		sid++
		text := string(a.Body)
		for _, end := range []string{"?PHPSESSID=%016x\"", ";jsessionid=%016X\""}[sid%2:][:1] {
			text = strings.ReplaceAll(text, "\">more", fmt.Sprintf(end, uint64(sid)*0x9e3779b97f4a7c15)+">more")
		}
		a.Body = []byte(text)
		return a
	}
	return c
}

// growing has a relative link that makes the path longer each time (T03).
func growing(l *language, size Size) Case {
	h := newHonest(l, size.Honest, func(int) []string { return []string{"/shop/cart/"} })
	return one("T03", "growing paths", h, func(target string) Answer {
		if !strings.HasPrefix(target, "/shop/") {
			return Answer{Status: 404}
		}
		return Answer{Kind: Trap, Body: page("Cart", l.article(7, 40), "shop/cart/", "../cart/shop/cart/")}
	})
}

// facets are all combinations of what a search can be narrowed by (T04).
func facets(l *language, size Size) Case {
	h := newHonest(l, size.Honest, func(int) []string { return []string{"/search?colour=red"} })
	names := []string{"colour", "size", "brand", "price", "sort", "page"}
	values := strings.Fields(
		"red blue green black white small large huge new old cheap dear fine one two three four five six seven",
	)
	return one("T04", "faceted search", h, func(target string) Answer {
		query, ok := strings.CutPrefix(target, "/search?")
		if !ok {
			return Answer{Status: 404}
		}
		r := rand.New(rand.NewPCG(uint64(len(query)), uint64(fingerprint(query))))
		chosen := map[string]string{}
		for one := range strings.SplitSeq(query, "&") {
			k, v, _ := strings.Cut(one, "=")
			chosen[k] = v
		}
		var links []string
		for _, name := range names {
			for _, value := range values {
				q := "/search?"
				for _, k := range names {
					if v, has := chosen[k]; k == name {
						q += k + "=" + value + "&"
					} else if has {
						q += k + "=" + v + "&"
					}
				}
				links = append(links, strings.TrimSuffix(q, "&"))
			}
		}
		for range 10 {
			links = append(links, h.path(r.IntN(h.pages)))
		}
		var text strings.Builder
		for range 12 {
			text.WriteString("<li>" + l.article(uint64(h.pages/(1+r.IntN(200))), 4) + "</li>")
		}
		return Answer{
			Kind: Trap,
			Body: page("Search "+strings.Join(values[:len(chosen)], " "), text.String(), links...),
		}
	})
}

// subdomains are one site under names without end (T05, D10).
func subdomains(l *language, size Size) Case {
	h := newHonest(l, size.Honest, func(n int) []string { return []string{fmt.Sprintf("http://x%d.zone.test/", n%10)} })
	c := one("T05", "subdomains without end", h, nil)
	c.Answer = func(host, target string) Answer {
		if host == "t05.test" {
			a, _ := h.answer(target)
			return a
		}
		if target != "/" {
			return Answer{Status: 404}
		}
		n := int(fingerprint(host))
		var links []string
		for k := range 6 {
			links = append(links, fmt.Sprintf("http://x%d.zone.test/", (n*7+k*13)%1_000_000_000))
		}
		return Answer{Kind: Trap, Body: page("Your name here", "This name may be for sale", links...)}
	}
	return c
}

// tarpit babbles, slowly and without end (T06).
func tarpit(l *language, size Size) Case {
	h := newHonest(l, size.Honest, func(n int) []string { return []string{"/maze/" + l.words[n%50]} })
	return one("T06", "tarpit", h, func(target string) Answer {
		if !strings.HasPrefix(target, "/maze/") {
			return Answer{Status: 404}
		}
		n := uint64(fingerprint(target))
		r := rand.New(rand.NewPCG(n, 9))
		var links []string
		for range 8 {
			links = append(links, "/maze/"+l.words[l.zipf(r)]+"/"+l.words[l.zipf(r)]+"/"+strconv.Itoa(r.IntN(1e6)))
		}
		return Answer{Kind: Trap, Body: page(l.babble(n, 4), l.babble(n, 200), links...), Slow: 5 * time.Second}
	})
}

// everything answers 200 to whatever it is asked, with links that lead to more of it (T07).
func everything(l *language, size Size) Case {
	h := newHonest(l, size.Honest, func(int) []string { return []string{"help"} })
	return one("T07", "soft 404", h, func(target string) Answer {
		text := "The page " + target + " could not be found. Please use the menu."
		dir := target[strings.LastIndexByte(strings.TrimSuffix(target, "/"), '/'):]
		return Answer{Kind: Trap, Body: page("Sorry", text, "help/contact"+dir, "about"+dir, "../news"+dir)}
	})
}

// farm is domains on three addresses, which praise each other (T08).
func farm(l *language, size Size) Case {
	h := newHonest(l, size.Honest,
		func(n int) []string { return []string{fmt.Sprintf("http://farm%d.test/", n%size.Farm)} })
	c := one("T08", "link farm", h, nil)
	c.Addr = func(name string) netip.Addr {
		if strings.HasPrefix(name, "farm") {
			return netip.AddrFrom4([4]byte{10, 2, 0, byte(fingerprint(name) % 3)})
		}
		return spread(8)(name)
	}
	c.Answer = func(host, target string) Answer {
		if host == "t08.test" {
			a, _ := h.answer(target)
			return a
		}
		n := uint64(fingerprint(host))
		var links []string
		for k := range uint64(20) {
			links = append(links, fmt.Sprintf("http://farm%d.test/", (n*31+k*k)%uint64(size.Farm)))
		}
		if target != "/" {
			return Answer{Status: 404}
		}
		return Answer{Kind: Trap, Body: page("Best offers of "+host, l.babble(n, 80), links...)}
	}
	return c
}

// mirrors is one page under names without end (T09).
func mirrors(l *language, size Size) Case {
	h := newHonest(l, size.Honest, func(n int) []string { return []string{fmt.Sprintf("/offer/%d", n)} })
	return one("T09", "one page, many URLs", h, func(target string) Answer {
		if !strings.HasPrefix(target, "/offer/") {
			return Answer{Status: 404}
		}
		return Answer{Kind: Trap, Body: page("Offer", "Buy one, get two", "1", "../offer/again/2")}
	})
}

// victim is a thousand hosts that all send their visitors to one (R08, T10).
func victim(l *language, size Size) Case {
	h := newHonest(l, size.Honest,
		func(n int) []string { return []string{fmt.Sprintf("http://r%d.test/go", n%size.Farm)} })
	c := one("T10", "redirects to one victim", h, nil)
	c.Answer = func(host, target string) Answer {
		switch {
		case host == "t10.test":
			a, _ := h.answer(target)
			return a
		case host == "victim.test":
			return Answer{Kind: Trap, Body: page("Welcome", "You come from a friend of ours")}
		case target == "/go":
			return Answer{Status: 302, Location: "http://victim.test/welcome?from=" + host}
		default:
			return Answer{Status: 404}
		}
	}
	return c
}

// chain is redirects whose query grows (R02).
func chain(l *language, size Size) Case {
	h := newHonest(l, size.Honest, func(n int) []string { return []string{fmt.Sprintf("/go?n=%d", n%size.Farm)} })
	return one("R02", "redirects without end", h, func(target string) Answer {
		if !strings.HasPrefix(target, "/go?") {
			return Answer{Status: 404}
		}
		return Answer{Status: 302, Location: target + "&again=1", Kind: Trap}
	})
}

// Large is a site without any trap.
func Large(l *language, pages int) Case {
	h := newHonest(l, pages, nil)
	return one("LARGE", "large and honest", h, func(string) Answer { return Answer{Status: 404} })
}

func fingerprint(s string) uint32 {
	h := uint32(2166136261)
	for _, c := range []byte(s) {
		h = (h ^ uint32(c)) * 16777619
	}
	return h ^ h>>13
}
