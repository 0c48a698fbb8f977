package process

import (
	"log/slog"
	"math"
)

// unlimited stands for no limit of open files.
const unlimited = math.MaxInt32

// RaiseFileLimit asks for as many open files as are needed, and says when it does not get them.
func RaiseFileLimit(log *slog.Logger, need int) {
	if limit := FileLimit(need); limit < need {
		log.Warn("the limit of open files is lower than may be needed; raise it (ulimit -n)", "limit", limit, "needs", need)
	}
}
