//go:build unix

package main

import (
	"regexp"
	"strconv"
	"testing"

	"orbweaver/internal/invariants"
)

// A crawl stays under the sum of the limits that its log names.
func TestHostile_S11_theCapsAreKept(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	cmd, errs := child(t, w.crawl(dir, 0, "--log-level", "debug")...)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, errs)
	}
	total := regexp.MustCompile(`"memory limits".* total="(\d+) MiB"`).FindStringSubmatch(errs.String())
	if total == nil {
		t.Fatalf("no sum of the caps: %s", errs)
	}
	most, err := strconv.ParseInt(total[1], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	peak := number(t, readReport(t, dir), "rss_peak_bytes")
	if !invariants.Race && (peak == 0 || peak > (most+1)<<20) {
		t.Errorf("at most %d bytes were resident, the caps are %d MiB", peak, most)
	}
}
