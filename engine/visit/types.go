package visit

import (
	"orbweaver/engine/site"
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
