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
		golden.Add(t, "report-1.txt", []byte(strings.Join(names, "\n")))
	}
	golden.Contains(t, names, strings.Split(string(golden.Read(t, "report-1.txt", "b02e3b051e1f30b6225ed8164e5300270829592a0b42de211374abd8994a9674")), "\n"))
}
