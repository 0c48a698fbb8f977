package hostile

import (
	"bytes"
	"strings"
	"testing"

	"orbweaver/engine"
	"orbweaver/internal/outcome"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/warctool"
)

// asked are the URLs of a host and those below it that were asked for, without robots.txt.
func (tr *trial) asked(host string) map[string]bool {
	all := map[string]bool{}
	for _, l := range tr.lines {
		name, _, _ := strings.Cut(strings.TrimPrefix(l.url, "http://"), "/")
		if (name == host || strings.HasSuffix(name, "."+host)) && !strings.HasSuffix(l.url, "/robots.txt") {
			all[l.url] = true
		}
	}
	return all
}

// A URL of 8 KiB in normal form is fetched if --max-url allows it, a longer one never; by default 2 KiB are the limit.
// All others are dropped and counted.
func TestHostile_U01_longURLsAreDroppedAndCounted(t *testing.T) {
	play(t, "U01", nil, func(tr *trial) {
		if n := tr.dropped("too-long"); n != int64(len(longURLs)) || len(tr.asked("u01.test")) != 1 {
			tr.Errorf("by default %d are counted, want %d; asked for %d", n, len(longURLs), len(tr.asked("u01.test")))
		}
	})
	play(t, "U01", func(c *engine.Config) { c.Admission.MaxURL = 8192 }, func(tr *trial) {
		tr.wants("http://u01.test"+longURLs[0], outcome.OK)
		if n := len(tr.asked("u01.test")); n != 2 {
			tr.Errorf("%d URLs were asked for, want 2", n)
		}
		if n := tr.dropped("too-long"); n != int64(len(longURLs)-1) {
			tr.Errorf("%d are counted, want %d", n, len(longURLs)-1)
		}
	})
	play(t, "U01", func(c *engine.Config) { c.Admission.MaxURL = 8191 }, func(tr *trial) {
		if n := tr.dropped("too-long"); n != int64(len(longURLs)) || len(tr.asked("u01.test")) != 1 {
			tr.Errorf(
				"with --max-url 8191, %d are counted, want %d; asked for %d",
				n,
				len(longURLs),
				len(tr.asked("u01.test")),
			)
		}
	})
}

// Dot segments are resolved in both spellings, escapes are decoded for nothing else, and never twice: the server sees
// what the page wrote.
func TestHostile_U03_pathsReachTheServerAsTheStandardHasThem(t *testing.T) {
	play(t, "U03", nil, func(tr *trial) {
		want := []string{
			"/",
			"/b",
			"/c",
			"/d/",
			"/e//f",
			"/g%00h",
			"/i%zz",
			"/j%2fk",
			"/l%2Fm",
			"/%252e%252e/n",
			"/x",
			"/q",
			"/r/..;/s",
			"/t%",
		}
		asked := tr.asked("u03.test")
		for _, path := range want {
			if !asked["http://u03.test"+path] {
				tr.Errorf("%s was not asked for", path)
			}
			delete(asked, "http://u03.test"+path)
		}
		if len(asked) > 0 {
			tr.Errorf("asked for %v as well", asked)
		}
	})
}

// User and password are left out of what is asked for and of all that we write; that there were some is counted. The
// archive has the page that named them, as it came.
func TestHostile_U04_userAndPasswordAreNeitherSentNorLogged(t *testing.T) {
	tell := func(c *engine.Config) { c.Archive.Via, c.Archive.Outlinks = true, true }
	play(t, "U04", tell, func(tr *trial) {
		for _, url := range []string{
			"http://u04.test/", "http://u04.test/seed", "http://other.u04.test/relative", "http://moved.u04.test/",
			"http://u04.test/@mail/a:b", "http://u04.test/twice", "http://u04.test/encoded",
		} {
			tr.wants(url, outcome.OK)
		}
		tr.wants("http://u04.test/moved", outcome.Redirect)
		tr.wants("http://u04.test/in", outcome.ClientError) // the server asks for a login: none is sent
		if n := tr.report.Userinfo - tr.alone().Userinfo; n != 5 {
			tr.Errorf("%d are counted, want 5: four links and a Location", n)
		}
		for name, text := range tr.written() {
			if bytes.Contains(text, []byte("secret")) || bytes.Contains(text, []byte("sec%72et")) {
				tr.Errorf("%s has the password", name)
			}
		}
		if !strings.Contains(tr.said, "names a user") {
			tr.Errorf("nobody is told that the seed had a password: %s", tr.said)
		}
		if !bytes.Contains(tr.record("http://u04.test/", "").Block, []byte("user:secret@")) {
			tr.Error("the archive does not have the page as it came")
		}
	})
}

// What a server writes into URLs and headers cannot add a line or a field to anything that we write, nor steer a
// terminal.
func TestHostile_U09_nothingThatWeWriteHasALineOrAnEscapeOfTheirs(t *testing.T) {
	tell := func(c *engine.Config) { c.Archive.Via, c.Archive.Outlinks = true, true }
	play(t, "U09", tell, func(tr *trial) {
		const escaped = "%1B[31m%1B]0;x%07WARC/1.1WARC-Type:%20warcinfo%E2%80%AE%EF%BF%BD%7F%EF%BF%BD31m"
		for _, url := range []string{
			"http://u09.test/a" + escaped + "b", "http://u09.test/?q=" + escaped, "http://u09.test/type",
			"http://u09.test/%3Cscript%3Ealert(1)%3C/script%3E%22'",
			"http://u09.test/to%1B[31m%1B]0;x%07WARC/1.1WARC-Type:%20warcinfo%E2%80%AE%7F%9B31m",
		} {
			tr.wants(url, outcome.OK)
			tr.record(url, "")
		}
		if n := len(tr.asked("u09.test")); n != 7 {
			tr.Errorf("%d URLs were asked for: %v", n, tr.asked("u09.test"))
		}
		for name, text := range tr.written() {
			isControl := func(r rune) bool { return r != '\n' && r != '\r' && r != '\t' && (r < ' ' || r > '~') }
			if i := bytes.IndexFunc(text, isControl); i >= 0 {
				tr.Errorf("%s: %q", name, text[max(i-20, 0):min(i+20, len(text))])
			}
		}
	})
}

// written is all text that a crawl leaves, and what `warc ls` and `warc verify` print of it: log, indexes, reports,
// seeds, what it said, and the archive without what servers sent.
func (tr *trial) written() map[string][]byte {
	tr.Helper()
	all := map[string][]byte{"what was said": []byte(tr.said)}
	for _, dir := range []string{"crawl", "crawl/frontier", "crawl/logs", "crawl/warc"} {
		names, err := tr.disk.List(dir)
		if err != nil {
			tr.Fatal(err)
		}
		for _, name := range names {
			switch {
			case strings.HasSuffix(name, ".log"),
				strings.HasSuffix(name, ".cdxj"),
				strings.HasSuffix(name, ".json"),
				strings.HasSuffix(name, ".toml"),
				name == "seeds":
				if all[name], err = vfs.ReadFile(tr.disk, dir+"/"+name); err != nil {
					tr.Fatal(err)
				}
			case strings.HasSuffix(name, ".warc.gz"):
				var list bytes.Buffer
				tool := warctool.Tool{FS: tr.disk, Out: &list, Err: &list}
				if err := tool.List(dir + "/" + name); err != nil {
					tr.Error(err)
				}
				if err := tool.Verify(dir + "/" + name); err != nil {
					tr.Error(err)
				}
				all["the list of "+name] = list.Bytes()
			}
		}
	}
	if len(all) < 6 {
		tr.Errorf("only %d texts were found", len(all))
	}
	err := captures.Records(tr.disk, "crawl/warc", func(rec *warc.RecordRead) error {
		name := string(rec.TargetURI) + " " + rec.Type.String()
		for _, f := range rec.Fields {
			all[name] = append(all[name], f.Name+": "+f.Value+"\n"...)
		}
		if rec.Type == warc.Response || rec.Type == warc.Revisit || rec.Type == warc.Resource {
			return nil
		}
		_, err := rec.ReadBlock(1 << 26)
		all[name] = append(all[name], rec.Block...)
		return err
	})
	if err != nil {
		tr.Fatal(err)
	}
	return all
}
