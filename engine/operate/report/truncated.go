package report

import (
	"fmt"
	"log/slog"
	"path"
	"slices"
	"strings"

	"orbweaver/internal/outcome"
	"orbweaver/internal/plural"
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

// TruncatedLine says how many bodies are not whole in the archive, why, and how to see which; "" if all are whole. dir
// is the crawl directory.
func (r *Report) TruncatedLine(dir string) string {
	total, reasons := r.truncatedBodies()
	if total == 0 {
		return ""
	}
	line := fmt.Sprintf("%s %s not whole in the archive: %s; to list them: %s",
		plural.Count(total, "body"), plural.Verb(total, "is", "are"), strings.Join(reasons, ", "), listTruncated(dir))
	if remedy := r.truncatedRemedy(); remedy != "" {
		line += "; " + remedy
	}
	return line
}

// WarnTruncated logs a warning if bodies are not whole in the archive. dir is the crawl directory.
func (r *Report) WarnTruncated(log *slog.Logger, dir string) {
	total, reasons := r.truncatedBodies()
	if total == 0 {
		return
	}
	args := []any{"bodies", total, "reasons", strings.Join(reasons, ", "), "list", listTruncated(dir)}
	if remedy := r.truncatedRemedy(); remedy != "" {
		args = append(args, "remedy", remedy)
	}
	log.Warn("bodies are not whole in the archive; crawl.log has their URLs", args...)
}

// listTruncated is the command that lists the bodies.
func listTruncated(dir string) string {
	return "zgrep -E 'truncated-|no-memory' " + path.Join(dir, "logs/crawl.log*")
}

// truncatedRemedy names the limits of this crawl that cut bodies; "" if servers ended all of them.
func (r *Report) truncatedRemedy() string {
	var remedies []string
	for _, limit := range []struct {
		by     outcome.Outcome
		remedy string
	}{
		{outcome.TruncatedLength, "raise --max-body if they are too long"},
		{outcome.TruncatedTime, "raise --slow-body-timeout or --exchange-timeout if servers need more time"},
		{outcome.NoMemory, "raise --max-body-files if the disk has room"},
	} {
		if n := r.Outcomes[limit.by.String()]; n > 0 {
			remedies = append(remedies, fmt.Sprintf("%s: %s", limit.by, limit.remedy))
		}
	}
	return strings.Join(remedies, "; ")
}
