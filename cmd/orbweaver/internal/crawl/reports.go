package crawl

import (
	"context"
	"log/slog"
	"time"

	"orbweaver/engine"
	"orbweaver/engine/operate/control/dashboard"
	"orbweaver/engine/operate/logreport"
	"orbweaver/engine/state/layout"
)

// reportsTime is how long the end of a run waits for the reports. They read the whole crawl log: a second for some
// million lines.
const reportsTime = 2 * time.Minute

// writeReports writes the reports of hosts, status codes and so on. What goes wrong is logged: the crawl is on disk.
func writeReports(ctx context.Context, dir string, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(ctx, reportsTime)
	defer cancel()
	if err := logreport.Write(ctx, engine.Disk(dir), dir, logreport.Options{}); err != nil {
		log.Warn("the reports in "+layout.ReportsDir+"/ are not complete; 'orbweaver report' prints them", "error", err)
	}
	if err := dashboard.WriteReportPage(engine.Disk(dir), dir, log); err != nil {
		log.Warn("the page of the reports is not written; 'orbweaver report --html' prints it", "error", err)
	}
}
