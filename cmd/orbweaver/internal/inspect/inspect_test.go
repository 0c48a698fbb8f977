package inspect

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/check/gaps"
	"orbweaver/internal/cli/command"
)

// commands are those of this package, and the one whose settings they read.
type commands struct {
	command.Sources

	Crawl crawl.Command `cmd:""`

	Audit   AuditCommand   `cmd:""`
	Fsck    FsckCommand    `cmd:""`
	Report  ReportCommand  `cmd:""`
	Skipped SkippedCommand `cmd:""`
	Upload  UploadCommand  `cmd:""`
}

// parse reads a command line, as main does, and returns what is wrong with it.
func parse(t *testing.T, stderr io.Writer, args ...string) (*commands, *command.Invocation, error) {
	t.Helper()
	c := commands{Crawl: crawl.New()}
	inv := &command.Invocation{Context: t.Context(), Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: stderr}
	return &c, inv, inv.Check(inv.Parse(&c, args))
}

// crawlDir is a directory with the settings of a crawl, and nothing else.
func crawlDir(t *testing.T, settings string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "crawl.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// A command line that makes no sense is refused before anything is read, with what to do.
func TestRefusals(t *testing.T) {
	plain, bare := crawlDir(t, "contact = 'https://example.org/'\n"), t.TempDir()
	for _, c := range []struct{ line, want string }{
		{"fsck " + bare + " https://a.test/", "unexpected argument https://a.test/: seeds are for --rebuild"},
		{"fsck --remote --rebuild " + plain, "--remote and --rebuild exclude each other"},
		{"fsck --remote " + plain, "the crawl in " + plain + " has no --upload"},
		{"fsck --rebuild " + bare, "has no crawl.toml: give the settings of the crawl with --config"},
		{"upload " + bare, "has no crawl.toml: give the settings of the crawl with --config"},
		{"upload --upload nowhere " + plain, "--upload"},
		{"report " + plain + " colours", `no report "colours"`},
		{"report --html " + plain + " hosts", "--html is a page of all reports"},
		{"report --urls " + plain + " hosts", "--urls is for the report requisites alone"},
		{"report --top 0 " + plain, "--top"},
		{"audit politeness --top 1001 " + plain, "--top"},
	} {
		_, _, err := parse(t, io.Discard, strings.Fields(c.line)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.line, err, c.want)
		}
	}
}

// A directory without a crawl is a mistake of the caller, and nothing is said to be wrong with it.
func TestNoCrawl(t *testing.T) {
	bare := t.TempDir()
	for _, line := range []string{"fsck", "report", "skipped", "audit politeness"} {
		var said strings.Builder
		_, inv, err := parse(t, &said, append(strings.Fields(line), bare)...)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got := inv.Exit(inv.Args.Run(inv)); got != command.ExitUsage || !strings.Contains(said.String(), bare) {
			t.Errorf("%s: exit status %d, %q", line, got, said.String())
		}
	}
}

// A delay of zero is stated; one that is not given is not.
func TestPoliteness_statedDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said strings.Builder
		c, inv, err := parse(t, &said, "audit", "politeness", "--ip-delay", "0", t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		o := c.Audit.Politeness.options(inv, "lists")
		if o.Stated.Host != gaps.Unstated().Host || o.Stated.IP != 0 || o.Stated.CrawlDelayMax != 5*time.Minute {
			t.Errorf("stated are %+v", o.Stated)
		}
		for range 50 { // five seconds
			time.Sleep(100 * time.Millisecond)
			o.Progress(gaps.Progress{File: "a.warc.gz", Bytes: 1 << 20, TotalBytes: 4 << 20})
		}
		if got := strings.Count(said.String(), "\n"); got != 2 {
			t.Errorf("%d lines in five seconds: %q", got, said.String())
		}
	})
}

// The verdict of fsck counts the errors, and notes are none.
func TestVerdict(t *testing.T) {
	c, r := FsckCommand{Dir: "crawl"}, fsck.Report{}
	r.Add(fsck.Finding{Severity: fsck.Note})
	if err := c.verdict(&r); err != nil {
		t.Errorf("a note: %v", err)
	}
	r.Add(fsck.Finding{Severity: fsck.Error})
	if err := c.verdict(&r); err == nil || err.Error() != "crawl is not sound: 1 error" {
		t.Errorf("an error: %v", err)
	}
}
