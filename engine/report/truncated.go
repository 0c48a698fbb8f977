package report

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"orbweaver/internal/outcome"
)

// truncatedBodies returns how many admitted URLs have a body that is not whole, and the outcomes with their numbers.
func (r *Report) truncatedBodies() (total int64, reasons []string) {
	for o := outcome.None; int(o) < outcome.Count; o++ {
		if n := r.Outcomes[o.String()]; n > 0 && o.IsBodyTruncated() {
			total += n
			reasons = append(reasons, fmt.Sprintf("%s %d", o, n))
		}
	}
	slices.Sort(reasons)
	return total, reasons
}

// TruncatedLine says how many bodies are not whole in the archive, why, and how to see which; "" if all are whole.
func (r *Report) TruncatedLine() string {
	total, reasons := r.truncatedBodies()
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("%d bodies are not whole in the archive: %s; to list them: zgrep -E '%s' logs/crawl.log*",
		total, strings.Join(reasons, ", "), "truncated-|no-memory")
}

// WarnTruncated logs a warning if bodies are not whole in the archive. dir is the crawl directory.
func (r *Report) WarnTruncated(log *slog.Logger, dir string) {
	if total, reasons := r.truncatedBodies(); total > 0 {
		log.Warn("bodies are not whole in the archive; crawl.log has their URLs; raise --max-body if they are too long",
			"bodies", total, "reasons", strings.Join(reasons, ", "), "list",
			"zgrep -E 'truncated-|no-memory' "+dir+"/logs/crawl.log*")
	}
}
