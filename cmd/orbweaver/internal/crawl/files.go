package crawl

import (
	"fmt"
	"log/slog"

	"orbweaver/engine"
	"orbweaver/engine/net/bodyfile"
	"orbweaver/internal/cli/process"
)

// A crawl's open files: those of its directory (archive, runs of the sieve, queues, journal, a checkpoint being
// written) and of the program itself, which do not grow with the crawl; a socket for each fetch worker, and for each
// connection that is kept; two for each question to a name server.
const (
	filesOfDisk    = 96
	filesOfResolve = 2
	filesLeast     = filesOfDisk + resolvesLeast*filesOfResolve + fetchersLeast + bodyFilesLeast
	bodyFilesLeast = 4
	resolvesLeast  = 4
	resolvesUsual  = 256
	fetchersLeast  = 8
)

// filesNeeded counts the files of a crawl without connections that wait.
func filesNeeded(c engine.Config) int {
	return filesOfDisk + c.Workers.Resolvers*filesOfResolve + c.Workers.Fetchers + bodyfile.FilesFor(c.Workers.Fetchers)
}

// fetchersOf returns how many fetch workers need at most so many files, with those of long bodies.
func fetchersOf(files int) int {
	n := files
	for n > fetchersLeast && n+bodyfile.FilesFor(n) > files {
		n--
	}
	return n
}

// fitFiles makes a crawl fit into the limit of open files. Connections that wait go first. If that is not enough, the
// crawl has fewer workers than asked for.
func fitFiles(log *slog.Logger, c *engine.Config) error {
	need := filesNeeded(*c)
	limit := process.FileLimit(need + c.Workers.IdleConnsMax)
	if limit < need {
		c.Workers.Resolvers = min(c.Workers.Resolvers, resolvesUsual) // before there are fewer fetch workers
		need = filesNeeded(*c)
	}
	if limit < filesLeast {
		return fmt.Errorf(
			"the limit of open files is %d, and a crawl needs at least %d: raise it (ulimit -n %d)", limit, filesLeast, need,
		)
	}
	if c.Workers.KeepAlive > 0 {
		c.Workers.IdleConnsMax = min(c.Workers.IdleConnsMax, max(1, limit-need))
	}
	if limit >= need {
		return nil
	}
	asked := c.Workers.Fetchers
	c.Workers.Resolvers = min(c.Workers.Resolvers, max(resolvesLeast, limit/16))
	c.Workers.Fetchers = min(c.Workers.Fetchers, fetchersOf(limit-filesOfDisk-c.Workers.Resolvers*filesOfResolve))
	log.Warn("the limit of open files is lower than this crawl needs, so it has fewer workers; raise it (ulimit -n)",
		"limit", limit, "needs", need, "fetchers", c.Workers.Fetchers, "asked", asked, "resolvers", c.Workers.Resolvers)
	return nil
}
