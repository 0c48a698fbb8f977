package traps

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Turns are traps whose requests are of several kinds, or whose addresses come from few words. Each answer of them
// counts, also if it is no page.
func Turns(seed uint64, size Size) []Case {
	l := newLanguage(seed, 60)
	cases := []Case{
		slashes(l, size), locales(l, size), pathFacets(l, size), pathSessions(l, size), brokenLinks(l, size),
		signedImages(l, size), finiteWords(l, size), softErrors(l, size),
		hostChain(l, size, "text/html"), hostChain(l, size, "text/css"),
	}
	for _, redirects := range []int{1, 3, 9} {
		for _, folder := range []string{"/a/", "/b/"} {
			cases = append(cases, redirectTurns(l, size, redirects, folder))
		}
	}
	return cases
}

// counted is a case whose honest part leads to entry, where # is one of fifty numbers. Each answer below prefix is
// trap.
func counted(l *language, size Size, id, name, entry, prefix string, answer func(rest string) Answer) Case {
	h := newHonest(l, size.Honest, func(n int) []string {
		return []string{strings.ReplaceAll(entry, "#", strconv.Itoa(n%50))}
	})
	return one(id, name, h, func(target string) Answer {
		rest, ok := strings.CutPrefix(target, prefix)
		if !ok {
			return Answer{Status: 404}
		}
		a := answer(rest)
		a.Kind = Trap
		return a
	})
}

// redirectTurns are pages without news, and each leads to the next one by some redirects (R03).
func redirectTurns(l *language, size Size, redirects int, folder string) Case {
	name := fmt.Sprintf("pages and %d redirects by turns", redirects)
	return counted(l, size, "R03", name, "/b/0", "/", func(rest string) Answer {
		_, digits, _ := strings.Cut(rest, "/")
		n, err := strconv.Atoi(digits)
		switch {
		case err != nil:
			return Answer{Status: 404}
		case n%(redirects+1) == 0:
			return Answer{Body: page(fmt.Sprintf("Page %d", n), "No entries were found", folder+strconv.Itoa(n+1))}
		case n%(redirects+1) == redirects:
			return Answer{Status: 302, Location: "/b/" + strconv.Itoa(n+1)}
		}
		return Answer{Status: 302, Location: folder + strconv.Itoa(n+1)}
	})
}

// slashes are one page, also with any number of slashes and semicolons behind its path (T11).
func slashes(l *language, size Size) Case {
	return counted(l, size, "T11", "slashes and semicolons", "/t/terms-#", "/t/", func(rest string) Answer {
		return Answer{Body: page("Terms", "These are the terms of use", "/t/"+rest+"/", "/t/"+rest+";")}
	})
}

// locales have a switch of languages that puts the language before the path (T12).
func locales(l *language, size Size) Case {
	languages := strings.Fields("en de fr it es pt nl pl cs da sv fi")
	return counted(l, size, "T12", "locales", "/i/en/start", "/i/", func(rest string) Answer {
		var links []string
		for _, one := range languages {
			links = append(links, "/i/"+one+"/"+rest)
		}
		return Answer{Body: page("Start "+rest[:2], "You are in the version "+rest[:2], links...)}
	})
}

// pathFacets are what a search can be narrowed by, as folders (T13).
func pathFacets(l *language, size Size) Case {
	values := strings.Fields("red blue green black small large new old cheap dear wool silk round square short long")
	return counted(l, size, "T13", "facets in paths", "/f/", "/f/", func(rest string) Answer {
		var links []string
		for _, one := range values {
			if !strings.Contains("/"+rest, "/"+one+"/") {
				links = append(links, "/f/"+rest+one+"/")
			}
		}
		found := fingerprint(rest) % 9000
		return Answer{Body: page("Clothes "+strings.ReplaceAll(rest, "/", " "), fmt.Sprintf("%d found", found), links...)}
	})
}

// pathSessions give each visitor a folder (T14).
func pathSessions(l *language, size Size) Case {
	sid := uint64(0) // guarded by the caller: one request at a time
	return counted(l, size, "T14", "sessions in folders", "/s/0/p/0", "/s/", func(rest string) Answer {
		_, name, _ := strings.Cut(rest, "/p/")
		n, err := strconv.Atoi(name)
		if err != nil || n >= 50 {
			return Answer{Status: 404}
		}
		sid++
		session := strconv.FormatUint(sid*0x9e3779b97f4a7c15, 36)
		var links []string
		for k := range 3 {
			links = append(links, fmt.Sprintf("/s/%s/p/%d", session, (n*3+k+1)%50))
		}
		return Answer{Body: page("Product "+l.words[n], l.article(uint64(n)+1<<50, 60)+" Your session: "+session, links...)}
	})
}

// brokenLinks are pages without news, with links to what is missing (T15).
func brokenLinks(l *language, size Size) Case {
	return counted(l, size, "T15", "broken links", "/t/page/0", "/t/", func(rest string) Answer {
		name, isPage := strings.CutPrefix(rest, "page/")
		n, err := strconv.Atoi(name)
		if !isPage || err != nil {
			return Answer{Status: 404}
		}
		links := []string{fmt.Sprintf("/t/page/%d", n+1)}
		for k := range 4 {
			links = append(links, fmt.Sprintf("/t/missing/%d-%d", n, k))
		}
		return Answer{Body: page(fmt.Sprintf("Page %d", n), "No entries were found", links...)}
	})
}

// images adds the markup of images to a page.
func images(body []byte, addresses ...string) []byte {
	for _, src := range addresses {
		body = append(body, "<img src=\""+src+"\">\n"...)
	}
	return body
}

// signedImages are pages without news that show the same images, each time with new signatures (T16).
func signedImages(l *language, size Size) Case {
	return counted(l, size, "T16", "signed images", "/t/page/0", "/t/", func(rest string) Answer {
		if name, ok := strings.CutPrefix(rest, "image/"); ok {
			name, _, _ = strings.Cut(name, "?")
			return Answer{Type: "image/png", Body: []byte("\x89PNG\r\n\x1a\n" + name)}
		}
		n, err := strconv.Atoi(strings.TrimPrefix(rest, "page/"))
		if err != nil {
			return Answer{Status: 404}
		}
		var addresses []string
		for k := range 10 {
			signature := uint64(n*10+k) * 0x9e3779b97f4a7c15
			addresses = append(addresses, fmt.Sprintf("/t/image/%d.png?expires=%d&signature=%x", k, n*1000, signature))
		}
		body := page(fmt.Sprintf("Page %d", n), "No entries were found", fmt.Sprintf("/t/page/%d", n+1))
		return Answer{Body: images(body, addresses...)}
	})
}

// finiteWords are numbered pages of many whose texts have few words (T18).
func finiteWords(l *language, size Size) Case {
	return counted(l, size, "T18", "few words", "/t/?page=0", "/t/", func(rest string) Answer {
		n, err := strconv.Atoi(strings.TrimPrefix(rest, "?page="))
		if err != nil {
			return Answer{Status: 404}
		}
		r := rand.New(rand.NewPCG(uint64(n), 11))
		var text strings.Builder
		for range 12 {
			text.WriteString(l.words[r.IntN(40)] + " ")
		}
		title := fmt.Sprintf("Page %d of 1,000,000", n)
		next, previous := fmt.Sprintf("/t/?page=%d", n+1), fmt.Sprintf("/t/?page=%d", max(n-1, 0))
		return Answer{Body: page(title, text.String(), next, previous)}
	})
}

// softErrors are pages for any path, which repeat it, with links to other paths (T19).
func softErrors(l *language, size Size) Case {
	return counted(l, size, "T19", "soft errors that repeat the path", "/t/x", "/t/", func(rest string) Answer {
		r := rand.New(rand.NewPCG(uint64(fingerprint(rest)), 12))
		var links []string
		for range 3 {
			links = append(links, "/t/"+invent(r)+invent(r)+"/"+invent(r)+invent(r))
		}
		text := "The page /t/" + rest + " was not found. Did you mean " + links[0] + "?"
		return Answer{Body: page("Not found: "+strings.ReplaceAll(rest, "/", " "), text, links...)}
	})
}

// hostChain are hosts of a domain without end, and each has the next one in a frame or a style sheet (T20).
func hostChain(l *language, size Size, media string) Case {
	name := func(n int) string { return Alphabetic.of(n) + ".zone.test" }
	h := newHonest(l, size.Honest, func(int) []string { return []string{"http://" + name(1) + "/"} })
	c := one("T20", "chain over hosts, "+media, h, nil)
	c.Answer = func(host, target string) Answer {
		if host == "t20.test" {
			a, _ := h.answer(target)
			return a
		}
		label, _, _ := strings.Cut(host, ".")
		n, ok := Alphabetic.number(label)
		if !ok || target != "/" {
			return Answer{Status: 404}
		}
		next := "http://" + name(n+1) + "/"
		if media == "text/css" {
			return Answer{Kind: Trap, Type: media, Body: []byte("/* " + label + " */ @import url(\"" + next + "\");")}
		}
		body := page("Host "+label, "This is "+host)
		return Answer{Kind: Trap, Body: append(body, "<iframe src=\""+next+"\"></iframe>"...)}
	}
	return c
}
