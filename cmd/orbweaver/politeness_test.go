package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/engine/check/gaps"
	"orbweaver/internal/cli/command"
)

// politeArchive writes an archive with two requests to a site, the second so many seconds after the end of the first.
func politeArchive(t *testing.T, second, idle string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	record := func(kind, url, date, fields, block string) string {
		head := fmt.Sprintf("WARC/1.1\r\nWARC-Type: %s\r\nWARC-Target-URI: %s\r\nWARC-Date: %s\r\n", kind, url, date)
		return fmt.Sprintf("%s%sContent-Length: %d\r\n\r\n%s\r\n\r\n", head, fields, len(block), block)
	}
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	const fields = "WARC-IP-Address: 192.0.2.1\r\nContent-Type: application/http;msgtype=response\r\n"
	text := record("warcinfo", "", "2026-11-25T12:00:00Z", "", "host-delay: 4s\r\nip-delay: 500ms\r\n") +
		record("response", "http://a.test/", "2026-11-25T12:00:00.000000Z",
			"Orbweaver-Exchange: took=1\r\n"+fields, answer) +
		record("response", "http://a.test/1", "2026-11-25T12:00:"+second+"Z", "Orbweaver-Exchange: took=1 idle="+idle+
			" ip-idle="+idle+"\r\n"+fields, answer)
	if err := os.WriteFile(filepath.Join(dir, "a.warc"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// The exit status says whether a request came too early. JSON says which.
func TestAuditPoliteness_theExitStatusIsTheVerdict(t *testing.T) {
	call("audit", "politeness", "--quiet", politeArchive(t, "05.000000", "4")).want(t, command.ExitDone)
	bad := politeArchive(t, "03.000000", "2")
	r := call("audit", "politeness", "--quiet", "--json", bad)
	r.want(t, command.ExitFailed, "shorter than the delay in force: 1")
	var out gaps.Report
	if err := json.Unmarshal([]byte(r.out), &out); err != nil {
		t.Fatal(err)
	}
	if out.Verdict != gaps.Violated || len(out.Sites.Worst) == 0 || out.Sites.Worst[0].Of != "http://a.test" {
		t.Errorf("%s: %+v", out.Verdict, out.Sites.Worst)
	}
	call("audit", "politeness", "--quiet", t.TempDir()).want(t, command.ExitUsage, "no WARC files")
}

// The settings of a crawl directory are those of the page, and flags win over them.
func TestBotpage_hasTheSettingsOfTheCrawl(t *testing.T) {
	dir := t.TempDir()
	settings := "operator = 'Library & Sons'\ndescription = 'An archive of maps.'\n" +
		"contact = 'https://maps.example/bot'\n" +
		"host-delay = '7s'\nmax-pages = 100\n"
	if err := os.WriteFile(filepath.Join(dir, "crawl.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	r := call("botpage", "--dir", dir, "--ip-delay", "2s", "--mail", "maps@maps.example").want(t, command.ExitDone)
	for _, want := range []string{
		"Library &amp; Sons", "An archive of maps.", "(&#43;https://maps.example/bot)", "at least 7 seconds",
		"at least 2 seconds",
		"mailto:maps@maps.example", "User-agent: orbweaver",
	} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	call("botpage", "--dir", t.TempDir()).want(t, command.ExitUsage, "has no crawl.toml")
	call("botpage", "--operator", "A").want(t, command.ExitUsage, "--description", "--contact")
	r = call("botpage", "--dir", dir, "--text").want(t, command.ExitDone)
	if !strings.Contains(r.out, "User-agent: orbweaver\nDisallow: /\n") {
		t.Error(r.out)
	}
}
