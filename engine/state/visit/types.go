package visit

import (
	"orbweaver/engine/state/site"
	"orbweaver/internal/handoff"
	"orbweaver/workbench"
)

type (
	// Workbench is the workbench of a crawl.
	Workbench = workbench.Workbench[site.State]
	// State is a site on the workbench, with its queue.
	State = workbench.VisitState[site.State]
	// Visit is a lease on a site for one fetch.
	Visit = workbench.Visit[site.State]
)

// Source is where fetch workers take Visits from: the queue that the Feeder alone fills.
type Source interface {
	// NewTaker makes the end of the queue for one fetch worker.
	NewTaker() *handoff.Taker[Result]
}
