package visit

import (
	"context"

	"orbweaver/engine/state/site"
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
	// TakeNext removes the oldest Visit. It waits while there is none, and returns mpmc.ErrClosed after the last one.
	TakeNext(ctx context.Context) (Visit, error)
}
