package report

import (
	"strings"
	"testing"

	"orbweaver/bench/golden"
	"orbweaver/engine/layout"
	"orbweaver/internal/vfs/vfstest"
)

// report.json has all the names that it had, with values of the same types.
func TestGolden_report(t *testing.T) {
	var r Report
	golden.Fill(&r)
	disk := vfstest.WithDir(t, "d")
	if err := Write(disk, "d", r); err != nil {
		t.Fatal(err)
	}
	names := golden.Names(t, vfstest.ReadAll(t, disk, "d/"+layout.ReportFile))
	if golden.Writing() {
		golden.Add(t, "report-2.txt", []byte(strings.Join(names, "\n")))
	}
	text := golden.Read(t, "report-2.txt", "0d531a87c13898246a1c0d46ff268316fa888a97403b719d2a5367998dc19e3e")
	golden.Contains(t, names, strings.Split(string(text), "\n"))
}
