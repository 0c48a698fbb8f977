//go:build scenario

package main

import (
	"path/filepath"
	"testing"

	"orbweaver/internal/cli/command"
)

// TestSoak is a short one: files are small, so that some are closed, verified and deleted on the way.
func TestSoak(t *testing.T) {
	heaps := filepath.Join(t.TempDir(), "heaps")
	m := call(
		"soak", "--profile", heaps, "--for", "6s", "--hosts", "500", "--ips", "400", "--mean", "100",
		"--host-delay", "100ms", "--ip-delay", "5ms", "--fetchers", "16", "--dir", filepath.Join(t.TempDir(), "soak"),
		"--json",
	).want(t, command.ExitDone).object(t)
	if names, err := filepath.Glob(filepath.Join(heaps, "heap-*.pprof")); err != nil || len(names) < 4 {
		t.Errorf("%d profiles of the memory: %v", len(names), err)
	}
	samples, ok := m["samples"].([]any)
	if pages := number(t, m, "pages"); !ok || len(samples) < 5 || pages < 50 ||
		number(t, m, "records_verified") < 2*pages ||
		m["polite"] != true {
		t.Errorf("%v", m)
	}
}

// TestVitroToday measures a few hundred pages of today: all of them come, and the table says what TLS and inflating
// cost.
func TestVitroToday(t *testing.T) {
	m := call(
		"throughput", "--today", "--hosts", "60", "--ips", "60", "--per-host", "20", "--host-delay", "50ms",
		"--ip-delay", "5ms", "--fetchers", "16", "--bare-pages", "300", "--dir", filepath.Join(t.TempDir(), "today"),
		"--progress", "none", "--json",
	).want(t, command.ExitDone).object(t)
	each := number(t, m, "bytes_text") / number(t, m, "pages")
	if packed := number(t, m, "bytes_packed"); m["coverage"] != 1.0 || each < 150_000 ||
		3*packed > number(t, m, "bytes_text") {
		t.Errorf("coverage %v, pages of %d bytes, %d bytes packed", m["coverage"], each, packed)
	}
	costs := map[string]int64{}
	for _, row := range m["where"].([]any) {
		row := row.(map[string]any)
		costs[row["part"].(string)] = min(number(t, row, "crawl_us_per_page"), number(t, row, "loop_us_per_page"))
	}
	for _, part := range []string{"TLS: handshake, decryption", "decompression"} {
		if costs[part] <= 0 {
			t.Errorf("%s costs nothing: %v", part, m["where"])
		}
	}
}
