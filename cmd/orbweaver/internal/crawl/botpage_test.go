package crawl

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// hostilePage is a page whose settings try to break out of it.
func hostilePage() page {
	return page{
		Operator: `Library "A" <script>alert(1)</script>`, Purpose: "</dd><img src=x onerror=alert(1)>\nsecond line",
		Contact: "https://example.org/bot?a=1&b=\"><script>", Mail: "crawl@example.org", Token: token,
		UserAgent: "orbweaver/1 (+https://example.org/bot)</code>", HostDelay: "4 seconds", IPDelay: "500 milliseconds",
		CrawlDelayMax: "5 minutes", IPv6Prefix: 64, HasOwnDelays: true, IgnoresRobots: true,
	}
}

// What an operator writes stands in the page as text. The page has no script and asks for nothing.
func TestPage_showsSettingsAsText(t *testing.T) {
	var out strings.Builder
	p := hostilePage()
	if err := p.write(&out); err != nil {
		t.Fatal(err)
	}
	root, err := html.Parse(strings.NewReader(out.String()))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for n := range root.Descendants() {
		switch {
		case n.Type == html.TextNode:
			text.WriteString(n.Data)
		case n.Type != html.ElementNode:
		case n.Data == "script", n.Data == "img", n.Data == "link", n.Data == "iframe":
			t.Errorf("the page has a %s", n.Data)
		}
		for _, a := range n.Attr {
			if a.Key == "src" || strings.HasPrefix(a.Key, "on") {
				t.Errorf("the page has %s=%q", a.Key, a.Val)
			}
		}
	}
	for _, want := range []string{p.Operator, p.Purpose, p.UserAgent, "Disallow: /", "4 seconds", "500 milliseconds"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in the page", want)
		}
	}
}

// The page closes what it opens, and uses only what HTML has at its place: parsed and written again it is the same.
func TestPage_isWellFormed(t *testing.T) {
	for _, p := range []page{hostilePage(), {Operator: "A", Purpose: "B", Token: token, IPv6Prefix: 64}} {
		var out strings.Builder
		if err := p.write(&out); err != nil {
			t.Fatal(err)
		}
		var open []string
		tokens := html.NewTokenizer(strings.NewReader(out.String()))
		for kind := tokens.Next(); kind != html.ErrorToken; kind = tokens.Next() {
			name, _ := tokens.TagName()
			switch kind {
			case html.StartTagToken:
				if string(name) != "meta" {
					open = append(open, string(name))
				}
			case html.EndTagToken:
				if len(open) == 0 || open[len(open)-1] != string(name) {
					t.Fatalf("</%s> closes %v", name, open)
				}
				open = open[:len(open)-1]
			default:
			}
		}
		if len(open) > 0 {
			t.Errorf("%v stay open", open)
		}
	}
}

// A site owner copies the text into robots.txt: a name of several lines must not become a rule.
func TestPage_theTextIsARobotsFile(t *testing.T) {
	p := page{Operator: "A\nUser-agent: *\r\nDisallow: /all", Mail: "a@b.example", Token: token}
	var out strings.Builder
	if err := p.writeText(&out); err != nil {
		t.Fatal(err)
	}
	var rules []string
	for line := range strings.Lines(out.String()) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			rules = append(rules, line)
		}
	}
	if len(rules) != 2 || rules[0] != "User-agent: orbweaver" || rules[1] != "Disallow: /" {
		t.Errorf("%q", rules)
	}
}

func TestSpoken(t *testing.T) {
	for d, want := range map[time.Duration]string{
		4 * time.Second: "4 seconds", 500 * time.Millisecond: "500 milliseconds", 5 * time.Minute: "5 minutes",
		time.Hour: "1 hour", 90 * time.Second: "90 seconds", 1500 * time.Millisecond: "1500 milliseconds",
		time.Microsecond: "1µs",
	} {
		if got := spoken(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}
