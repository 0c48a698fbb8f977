//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/cli/command"
)

// filesOf gives the files below dir, by their path within it, without sockets.
func filesOf(t *testing.T, dir string) map[string]fs.FileInfo {
	t.Helper()
	found := map[string]fs.FileInfo{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == dir || d.Type()&fs.ModeSocket != 0 {
			return err
		}
		info, err := d.Info()
		found[strings.TrimPrefix(name, dir+"/")] = info
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// unpacked is what a file holds, without gzip.
func unpacked(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(name, ".gz") && !strings.HasSuffix(name, ".gz.open") {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(name, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(name, err)
	}
	return text
}

// The password of a proxy comes from a file that only its owner can read. It ends in one place, crawl.toml, which only
// its owner can read, and a resume takes it from there. Nothing tells it: report, logs, records, control port, metrics,
// messages. With no umask at all the archive is what other users can read, and nothing else.
func TestL1_theProxysPasswordStaysItsOwners(t *testing.T) {
	const password = "Passw0rd-of-the-proxy"
	w, dir := serve(t), filepath.Join(t.TempDir(), "crawl")
	config := filepath.Join(t.TempDir(), "private.toml")
	writeFile(t, config, "proxy = \"http://crawler:"+password+"@"+strings.TrimPrefix(w.proxy, "http://")+"\"\n")
	line := append(
		[]string{"sh", "-c", `umask 0; exec "$0" "$@"`, program(), "crawl", "--config", config},
		small(dir, "", 300*time.Millisecond)[5:]...)
	line = append(line, "--dir", dir, "--seeds", w.seeds, "--progress", "plain")
	cmd, said := childOf(t, line...)
	told := map[string]string{}
	soon(t, "pages of the child's crawl", func() bool {
		r := call("ctl", "--dir", dir, "status", "--json")
		told["ctl status"] = r.out
		return r.code == command.ExitDone && number(t, r.object(t), "pages_stored") > 5
	})
	told["/metrics"], told["/rules"], told["/status"] = metricsOf(t, dir), answerOf(
		t, dir, "/rules",
	), answerOf(t, dir, "/status")
	call("ctl", "--dir", dir, "stop").want(t, command.ExitDone)
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != command.ExitStopped {
		t.Fatal(code, said)
	}
	told["messages"] = said.String()

	files := filesOf(t, dir)
	for name, info := range files {
		want := fs.FileMode(0o600)
		if name == "warc" || strings.HasPrefix(name, "warc/") {
			want = 0o666
		}
		if info.IsDir() {
			want |= want >> 2 & 0o111
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode().Perm(), want)
		}
		if !info.IsDir() {
			told[name] = string(unpacked(t, filepath.Join(dir, name)))
		}
	}
	if files["crawl.toml"] == nil || files["logs/crawl.log"] == nil || files["frontier/MANIFEST"] == nil ||
		!strings.Contains(told["crawl.toml"], password) {
		t.Errorf("crawl.toml lacks the password, or files are missing: %v", files)
	}
	delete(told, "crawl.toml")
	for where, text := range told {
		for _, secret := range []string{password, base64.StdEncoding.EncodeToString([]byte("crawler:" + password))} {
			if strings.Contains(text, secret) {
				t.Errorf("%s tells the password", where)
			}
		}
	}

	call("crawl", "--dir", dir, "--host-delay", "0").want(t, command.ExitDone)
	if m := readReport(t, dir); number(t, m, "pages_stored") != w.pages {
		t.Errorf("%v; the web has %d pages", m, w.pages)
	}
}

// What an earlier version left open is closed when the crawl goes on.
func TestL1_aDirectoryOfAnEarlierVersionIsClosed(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	call(w.crawl(dir, 0, "--max-pages", "3")...).want(t, command.ExitDone)
	for name, info := range filesOf(t, dir) {
		mode := fs.FileMode(0o644)
		if info.IsDir() {
			mode = 0o755
		}
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	call(w.crawl(dir, 0, "--max-pages", "0")...).want(t, command.ExitDone)
	files := filesOf(t, dir)
	for name, want := range map[string]fs.FileMode{
		"frontier": 0o750, "logs": 0o750, "crawl.toml": 0o600, "report.json": 0o600, "warc": 0o755,
	} {
		if got := files[name].Mode().Perm(); got != want {
			t.Errorf("%s has mode %v, want %v", name, got, want)
		}
	}
}

// A proxy that is none is named without its password; one on the command line is warned of.
func TestL1_messagesHaveNoPasswordOfAProxy(t *testing.T) {
	for _, proxy := range []string{
		"https://u:Passw0rd@127.0.0.1:1", "http://u:Passw0rd@proxy.test:1", "u:Passw0rd@127.0.0.1:1", "http://u:Passw0rd@",
		"http://u:Passw0%zz@127.0.0.1:1", "http://u:Pass/w0rd@127.0.0.1:1",
	} {
		r := call("crawl", "--dir", t.TempDir(), "--proxy", proxy, "http://a.test/").want(t, command.ExitUsage, "--proxy")
		if strings.Contains(r.err, "Pass") {
			t.Errorf("%s: %s", proxy, r.err)
		}
	}
	w, dir := serve(t), t.TempDir()
	r := call(
		append(
			w.crawl(dir, 0, "--max-pages", "1"), "--proxy", "http://u:Passw0rd@"+strings.TrimPrefix(w.proxy, "http://"),
		)...).want(t, command.ExitDone, "list of processes")
	if strings.Contains(r.err, "Passw0rd") {
		t.Error(r.err)
	}
	r = call("crawl", "--dir", dir).want(t, command.ExitDone) // with the proxy of crawl.toml
	if strings.Contains(r.err, "list of processes") {
		t.Error(r.err)
	}
}
