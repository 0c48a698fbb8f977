package report

import (
	"strings"
	"testing"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/golden"
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
	text := golden.Read(t, "report-2.txt", "7633245e8a373583b0538edfc0c1cd2d6e24b823801b71114b0891d1f44cb169")
	golden.Contains(t, names, strings.Split(string(text), "\n"))
}
