package main

import (
	"crypto/tls"
	"encoding/binary"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"orbweaver/internal/cli/command"
)

// With --tls strict a certificate that does not verify ends the crawl at once: waiting does not help. The remedies that
// are printed work.
func TestCrawl_saysWhatToDoAboutACertificate(t *testing.T) {
	site := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("a page"))
	}))
	site.TLS = new(tls.Config)
	site.StartTLS()
	defer site.Close()
	dir := t.TempDir()
	began := time.Now()
	call(nearby(filepath.Join(dir, "a"), "--tls", "strict", site.URL+"/")...).want(t, command.ExitFailed,
		"a seed could not be fetched", "certificate", "--tls tolerant", "SSL_CERT_FILE", "1 of 1 tls-fault")
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %v", took)
	}
	call(nearby(filepath.Join(dir, "b"), "--tls", "tolerant", site.URL+"/")...).want(t, command.ExitDone,
		"2 answers came with a certificate that does not verify", "orbweaver report "+filepath.Join(dir, "b")+" tls")
	authority := filepath.Join(dir, "authority.pem")
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: site.Certificate().Raw})
	if err := os.WriteFile(authority, block, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, errs := child(t, nearby(filepath.Join(dir, "c"), "--tls", "strict", site.URL+"/")...)
	_ = cmd.Wait()
	if !strings.Contains(errs.String(), "certificate") {
		t.Errorf("without the variable: %s", errs.String())
	}
	t.Setenv("SSL_CERT_FILE", authority)
	cmd, errs = child(t, nearby(filepath.Join(dir, "d"), "--tls", "strict", site.URL+"/")...)
	if err := cmd.Wait(); err != nil {
		t.Errorf("with the variable: %v\n%s", err, errs.String())
	}
}

// A seed that brings no page is told at once, whatever the reason, and other seeds of the crawl do not hide it.
func TestCrawl_warnsOfEachKindOfLostSeed(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			_, _ = w.Write([]byte("User-agent: *\nDisallow: /forbidden\n"))
		case "/away":
			http.Redirect(w, r, "http://elsewhere.test/", http.StatusFound)
		case "/missing":
			http.NotFound(w, r)
		default:
			_, _ = w.Write([]byte("a page"))
		}
	}))
	defer site.Close()
	dir := t.TempDir()
	surts := filepath.Join(dir, "surts.txt")
	writeFile(t, surts, "+"+site.URL+"/\n")
	r := call(nearby(filepath.Join(dir, "c"), "--scope", "host", "--surts", surts, site.URL+"/", site.URL+"/forbidden",
		site.URL+"/away", site.URL+"/missing", "http://other.test/")...).want(t, command.ExitDone)
	for _, want := range [][]string{
		{"outcome=robots-denied", "/forbidden"}, {"outcome=redirect", "/away", "target=http://elsewhere.test/"},
		{"outcome=client-error", "/missing", "status=404"}, {"does not belong to the crawl", "http://other.test/", "SURTs"},
	} {
		found := false
		for line := range strings.Lines(r.err) {
			all := strings.Contains(line, "level=WARN")
			for _, part := range want {
				all = all && strings.Contains(line, part)
			}
			found = found || all
		}
		if !found {
			t.Errorf("no warning with %v:\n%s", want, r.err)
		}
	}
}

// A list of seeds may come from any editor or spreadsheet. Its lines count, and what is no part of a URL is named.
func TestCrawl_readsTheSeedsOfAnEditor(t *testing.T) {
	w := new(asked)
	site := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { w.note(r.URL.Path) }))
	defer site.Close()
	dir := t.TempDir()
	list := filepath.Join(dir, "seeds.csv")
	text := "\ufeffurl;title\r\n\"" + site.URL + "/a\";First one\r\n" + site.URL + "/b # ours\r\n" +
		site.URL + "/c;Third one\r\n"
	var wide []byte
	for _, unit := range utf16.Encode([]rune(text)) {
		wide = binary.LittleEndian.AppendUint16(wide, unit)
	}
	writeFile(t, list, string(wide))
	r := call(nearby(filepath.Join(dir, "c"), "--seeds", list)...).want(t, command.ExitDone, list+":1", "is not a URL",
		"text beside the URL of a seed is left out", list+":2", "First one", list+":4", "Third one")
	if got := w.take(); !strings.Contains(got, "/a") || !strings.Contains(got, "/b") || !strings.Contains(got, "/c") {
		t.Errorf("asked for %q\n%s", got, r.err)
	}
	writeFile(t, list, "PK\x03\x04")
	call(nearby(filepath.Join(dir, "d"), "--seeds", list)...).want(t, command.ExitUsage, "spreadsheet")
	config := filepath.Join(dir, "crawl.toml")
	writeFile(t, config, "\ufeffhost-delay = '1ms'\r\n# ours\r\nmax-depth = 1\r\n")
	call(nearby(filepath.Join(dir, "e"), "--config", config, site.URL+"/a")...).want(t, command.ExitDone)
}
