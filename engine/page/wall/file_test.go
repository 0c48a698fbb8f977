package wall

import (
	"strings"
	"testing"

	"orbweaver/engine/page/filter"
)

func compile(t *testing.T, text string) (*Table, error) {
	t.Helper()
	from, err := filter.ReadRules("walls.txt", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return Compile(from)
}

// A user adds rules for services that are not in the table. Those of the table hold, too, and those of the file win.
func TestCompile_addsToTheTable(t *testing.T) {
	table, err := compile(t, `
# of our country
gate      status=403,999 body="gate-challenge \x23"   # a comment
Portal-2  header="X-Portal: Ask"
welcome   status=200 title="Before you continue"
edge      header=x-edge status=503
mine      header="cf-mitigated: challenge"
`)
	if err != nil {
		t.Fatal(err)
	}
	d := NewDetector()
	for _, c := range []struct {
		status             int
		fields, body, want string
	}{
		{403, "", "a gate-challenge # b", "gate"},
		{999, "", "a gate-challenge # b", "gate"},
		{404, "", "a gate-challenge # b", ""},
		{403, "", "a GATE-challenge # b", ""},
		{200, "x-portal: we ASK you\r\n", "", "Portal-2"},
		{200, "X-Portal: no\r\n", "", ""},
		{200, "", "<title>BEFORE you continue</title>", "welcome"},
		{200, "", "<title>What comes before you continue</title>", ""},
		{503, "X-Edge: 1\r\n", "", "edge"},
		{500, "X-Edge: 1\r\n", "", ""},
		{403, "CF-Mitigated: challenge\r\n", "", "mine"},
		{202, "X-Amzn-Waf-Action: challenge\r\n", "", "aws-waf"},
	} {
		if got := d.Service(table, answer(t, c.status, c.fields, c.body)); got != c.want {
			t.Errorf("%d %q %q: service %q, want %q", c.status, c.fields, c.body, got, c.want)
		}
	}
}

// A fault names the file, the line and what to write.
func TestCompile_faultsNameTheirLine(t *testing.T) {
	for text, want := range map[string]string{
		"a\n":                              "walls.txt:1: wall: bad rule: \"a\": add header=, title= or body=",
		"\na status=403":                   "walls.txt:2: wall: bad rule: \"a status=403\": add header=, title= or body=",
		"a body=x":                         "add status= or header=",
		`a title="x"`:                      "add status= or header=",
		"a status=4xx body=x":              "no list of numbers from 200 to 999, such as status=403,429",
		"a status=403, body=x":             "no list of numbers",
		`a status=403 body="x`:             "no closing quote",
		`a status=403 body="x # y"`:        `write it as \x23`,
		"a status=403 body=":               "give a text of 1 to 256 bytes",
		`a header=": x"`:                   "names no field",
		"a status=403 colour=red":          "\"colour\" is no condition: there are status=N,N",
		"a body=x body=y status=403":       "body stands there twice: write a second rule",
		"a,b header=x":                     "begin with the name of the service",
		"a status=403 body=x\nb body=x\nc": "walls.txt:3:",
	} {
		if _, err := compile(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
