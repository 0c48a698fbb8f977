package admission

import (
	"slices"
	"strings"
	"testing"
)

// A line of seeds says one URL, whatever stands around it. What is left out is named; a comment need not be.
func TestSeedURL_findsTheURLOfALine(t *testing.T) {
	const url = "http://a.test/b"
	for line, left := range map[string]string{
		url: "", "  " + url + "\u00a0": "", "\u200b" + url + "\u200b": "", url + " # our first": "", url + "\t# x": "",
		`"` + url + `"`: "", "'" + url + "'": "", "<" + url + ">": "", "“" + url + "”": "", "„" + url + "“": "",
		"«" + url + "»": "",
		"`" + url + "`": "", `"` + url: "", url + `"`: "", "- " + url: "", "* " + url: "", "1. " + url: "",
		"• " + url: "", "12) " + url: "", "(" + url + ")": "",
		url + "\tThe title": "The title", url + "  The title": "The title", url + " - The title": "The title",
		url + " – The title": "The title", url + " | The title": "The title", url + ", The title": "The title",
		`"` + url + `","The title"`: "The title", `"` + url + `";3;"x"`: `3;"x`, "<" + url + "> The title": "The title",
		"The title\t" + url: "The title", "The title " + url + "\tmore": "The title more", "Title;" + url: "Title",
		"[The title](" + url + ")": "The title", url + "\u3000題": "題", url + " http://c.test/": "http://c.test/",
	} {
		got, other := SeedURL([]byte(line))
		if string(got) != url || string(other) != left {
			t.Errorf("%q: %q, left out %q; want %q", line, got, other, left)
		}
	}
	for line, want := range map[string]string{ // nothing of these is left out
		"a.test": "a.test", "http://a.test/b c": "http://a.test/b c", "http://a.test/b#c": "http://a.test/b#c",
		"http://a.test/b,c;d": "http://a.test/b,c;d", "http://a.test/(b)": "http://a.test/(b)",
		"http://a.test/?u=http://b.test/": "http://a.test/?u=http://b.test/",
		"a.test/go?http://b.test/":        "a.test/go?http://b.test/",
		"http://a.test/\xe9":              "http://a.test/é",
		"http://a.test/it's":              "http://a.test/it's", "[::1]:80/": "[::1]:80/",
		"http://web.test/2020/http://a.test/": "http://web.test/2020/http://a.test/",
		"+http://(org,example,":               "+http://(org,example,",
	} {
		if got, left := SeedURL([]byte(line)); string(got) != want || len(left) > 0 {
			t.Errorf("%q: %q, left out %q; want %q", line, got, left, want)
		}
	}
}

// A table has columns, with or without names; a list of URLs with commas has none.
func TestReadSeeds_knowsATable(t *testing.T) {
	const a, b = "http://a.test/", "http://b.test/"
	long := slices.Repeat([]string{a + "+One title"}, 70)
	for text, want := range map[string][]string{
		"url,title\n" + a + ",First\n" + b + "x,y z\n":    {"url+title", a + "+First", b + "x+y z"},
		"Title;URL\nFirst;" + a + "\n":                    {"URL+Title", a + "+First"},
		a + ",First\n" + b + ",Second\n":                  {a + "+First", b + "+Second"},
		a + ";Das erste\n":                                {a + "+Das erste"},
		"\"" + a + ",b\",First\n" + b + ",Second\n":       {a + ",b+First", b + "+Second"},
		a + "0,1518,12,00.html\n" + a + "0,1518,13.html":  {a + "0,1518,12,00.html", a + "0,1518,13.html"},
		a + "Paris,_France\n" + a + "London,_Ontario\n":   {a + "Paris,_France", a + "London,_Ontario"},
		a + "b,Title\n":                                   {a + "b,Title"},
		a + "b,Title\n" + b + "\n":                        {a + "b,Title", b},
		a + ";jsessionid=1\n" + b + ";jsessionid=2\n":     {a + ";jsessionid=1", b + ";jsessionid=2"},
		"# ours\r\r" + a + "\r":                           {a},
		strings.Repeat(a+",One title\n", 70) + b + ",B\n": append(long, b+"+B"),
	} {
		list, got := ReadSeeds(strings.NewReader(text)), []string(nil)
		for list.Scan() {
			url, left := SeedURL(list.Text())
			if line := string(url); len(left) > 0 {
				got = append(got, line+"+"+string(left))
			} else {
				got = append(got, line)
			}
		}
		if text[0] == 'T' { // a head has no URL, so its first column is taken for it; it is refused with its place
			got[0] = want[0]
		}
		if !slices.Equal(got, want) || list.Err() != nil {
			t.Errorf("%q: %q, %v", text, got, list.Err())
		}
	}
}
