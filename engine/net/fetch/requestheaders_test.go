package fetch

import (
	"strings"
	"testing"
)

// Lines of the operator are in the head of each request. One for a default header takes its place.
func TestManners_haveTheLinesOfTheOperator(t *testing.T) {
	o := Options{UserAgent: "bot", Headers: []string{"Accept-Language: de, en;q=0.5", "accept :text/html"}}.WithDefaults()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	got := string(manners(&o, false))
	for _, line := range []string{"User-Agent: bot\r\n", "Accept-Language: de, en;q=0.5\r\n", "accept: text/html\r\n"} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is missing in %q", line, got)
		}
	}
	if strings.Contains(got, "\r\nAccept: ") {
		t.Errorf("the default Accept is there, too: %q", got)
	}
}

// A line that the crawler sets itself, that would be a secret in the archive, or that would end the head, is refused.
func TestOptions_refuseHeadersThatMayNotBeSet(t *testing.T) {
	for line, words := range map[string]string{
		"Host: a.test":                  "by the crawler itself",
		"Range: bytes=0-1":              "by the crawler itself",
		"If-None-Match: x":              "by the crawler itself",
		"Authorization: Basic x":        "--netrc",
		"cookie: a=b":                   "--load-cookies",
		"Two Words: x":                  "is not a line",
		"nothing":                       "is not a line",
		"X:":                            "is not a line",
		"X: a\r\nHost: b.test":          "control character",
		"X-Own: fine":                   "",
		"Accept-Language:\tde\tor none": "",
	} {
		err := Options{UserAgent: "bot", Headers: []string{line}}.WithDefaults().Validate()
		if words == "" && err != nil || words != "" && (err == nil || !strings.Contains(err.Error(), words)) {
			t.Errorf("%q: %v", line, err)
		}
	}
}

// A target may have its own user agent, which takes the place of the general one.
func TestRequest_hasOneUserAgent(t *testing.T) {
	o := Options{UserAgent: "bot"}.WithDefaults()
	target := &Target{URL: []byte("http://a.test/x"), Host: []byte("a.test"), UserAgent: "Mozilla (bot)"}
	got := string(appendRequest(nil, target, false, manners(&o, false)))
	if strings.Count(got, "User-Agent: ") != 1 || !strings.Contains(got, "\r\nUser-Agent: Mozilla (bot)\r\n") ||
		!strings.Contains(got, "\r\nAccept: ") {
		t.Errorf("%q", got)
	}
}
