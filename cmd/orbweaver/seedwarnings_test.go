package main

import (
	"crypto/tls"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/cmd/orbweaver/internal/command"
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
